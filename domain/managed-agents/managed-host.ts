import type { EntityManager } from "@mikro-orm/core";
import type { ManagedServer } from "../agents/open-host.ts";
import { selectNewestRevision, storeRevision, versionOf } from "../agents/store-revision.ts";
import type { Db } from "../database-types.ts";
import {
  type AgentHost,
  AgentHostError,
  type HostedAgents,
  type HostedInstructions,
  type HostedPage,
  type HostedSession,
  type HostedSkills,
  type HostedTranscript,
  InstructionsConflict,
  type ListHostedSessions,
  type ReadTranscript,
  type WriteInstructions,
} from "../ports/agent-host.ts";
import { listStoredSessions } from "../sessions/stored-sessions.ts";
import { readStoredTranscript } from "../sessions/read-stored-transcript.ts";
import { isUuid } from "../shared/ids.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { listStoredSkills } from "../skills/stored-skills.ts";

export interface ManagedHostDeps {
  em: EntityManager;
  db: Db;
}

/** The host of a server whose agents the service itself keeps: the database. The ids on this host are those of the service. */
export class ManagedHost implements AgentHost {
  readonly #deps: ManagedHostDeps;
  readonly #server: ManagedServer;

  constructor(deps: ManagedHostDeps, server: ManagedServer) {
    this.#deps = deps;
    this.#server = server;
  }

  async listAgents(signal: AbortSignal): Promise<HostedAgents> {
    signal.throwIfAborted();
    const rows = await this.#selectAgents().orderBy("created_at").orderBy("id").execute();
    const main = rows.find(({ is_main: isMain }) => isMain);
    if (main === undefined) throw new AgentHostError("not_found", "The server has been deleted.");
    return { mainId: main.id, agents: rows.map(({ id, name, model }) => ({ id, name, model })) };
  }

  async listSessions(request: ListHostedSessions, signal: AbortSignal): Promise<HostedPage<HostedSession>> {
    signal.throwIfAborted();
    if (request.agentId !== null) await this.#checkAgent(request.agentId);
    return listStoredSessions(this.#deps.db, this.#server, request);
  }

  async readTranscript(request: ReadTranscript, signal: AbortSignal): Promise<HostedTranscript> {
    signal.throwIfAborted();
    return readStoredTranscript(this.#deps.db, this.#server, request);
  }

  async listSkills(agentId: string, signal: AbortSignal): Promise<HostedSkills> {
    signal.throwIfAborted();
    await this.#checkAgent(agentId);
    return listStoredSkills(this.#deps.db, this.#server.orgId, agentId);
  }

  async readInstructions(agentId: string, signal: AbortSignal): Promise<HostedInstructions> {
    signal.throwIfAborted();
    await this.#checkAgent(agentId);
    const newest = await selectNewestRevision(this.#deps.db, agentId);
    const updatedAt = newest === undefined ? null : new Date(toIsoTimestamp(newest.created_at));
    return { ...versionOf(newest), updatedAt, revision: newest?.number ?? 0 };
  }

  async writeInstructions(request: WriteInstructions, signal: AbortSignal): Promise<HostedInstructions> {
    signal.throwIfAborted();
    const { agentId, content, expectedHash, author, revertedTo } = request;
    await this.#checkAgent(agentId);
    const { kind: credentialKind, id: credentialId } = author.credential;
    const by = { userId: author.userId, credentialKind, credentialId };
    const createdAt = new Date();
    const revision = await storeRevision(
      this.#deps.em,
      { agentId, content, revertedTo, author: by, createdAt },
      (currentHash) => {
        if (currentHash !== expectedHash) throw new InstructionsConflict(currentHash);
      },
    );
    return { content, hash: sha256Hex(content), updatedAt: createdAt, revision };
  }

  #selectAgents() {
    const { id, orgId } = this.#server;
    return this.#deps.db
      .selectFrom("agents")
      .select(["id", "name", "model", "is_main"])
      .where("server_id", "=", id)
      .where("org_id", "=", orgId);
  }

  async #checkAgent(id: string): Promise<void> {
    const agent = isUuid(id) ? await this.#selectAgents().where("id", "=", id).executeTakeFirst() : undefined;
    if (agent === undefined) throw new AgentHostError("not_found", "The server has no such agent.");
  }
}
