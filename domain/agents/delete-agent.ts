import { type EntityManager, LockMode } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { InstructionRevision } from "./instruction-revision.entity.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { MachineToken } from "../tokens/machine-token.entity.ts";
import { AgentServer } from "./agent-server.entity.ts";
import { Agent } from "./agent.entity.ts";
import { agentNotFound, serverNotFound } from "./agent-view.ts";
import { countServersLocked } from "./create-server.ts";

export interface DeleteAgentDeps {
  em: EntityManager;
  accessChanges: ChangeFeed;
}

/**
 * Deletes a specialized agent with everything that belongs to it, and revokes its tokens immediately.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `conflict` for the main agent of a server
 */
export async function deleteAgent(
  { em: root, accessChanges }: DeleteAgentDeps,
  { orgId }: Caller,
  id: string,
): Promise<{ status: "deleted" }> {
  await root.fork().transactional(async (em) => {
    const agent = await em.findOne(Agent, { id, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (agent === null) throw agentNotFound();
    if (agent.isMain)
      throw new ServiceError("conflict", "The main agent of a server cannot be deleted. Delete the server instead.");
    await removeAgents(em, [id]);
  });
  accessChanges.announce(orgId);
  return { status: "deleted" };
}

/**
 * Deletes a server with its agents and everything that belongs to them, and revokes their tokens immediately.
 *
 * @throws {ServiceError} `not_found` when the organization has no such server; `conflict` for its only server
 */
export async function deleteServer(
  { em: root, accessChanges }: DeleteAgentDeps,
  { orgId }: Caller,
  id: string,
): Promise<{ status: "deleted" }> {
  await (root as SqlEntityManager).fork().transactional(async (em) => {
    const servers = await countServersLocked(em, orgId);
    // Locked, so that no agent is added meanwhile.
    const server = await em.findOne(AgentServer, { id, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (server === null) throw serverNotFound();
    if (servers === 1)
      throw new ServiceError("conflict", "This is the organization's only server. Create another server first.");
    const agents = await em.find(Agent, { serverId: id }, { fields: ["id"] });
    await removeAgents(
      em,
      agents.map((agent) => agent.id),
    );
    await em.nativeDelete(AgentServer, { id });
  });
  accessChanges.announce(orgId);
  return { status: "deleted" };
}

async function removeAgents(em: EntityManager, ids: string[]): Promise<void> {
  const agentId = { $in: ids };
  await em.nativeUpdate(MachineToken, { agentId, revokedAt: null }, { revokedAt: new Date() });
  await em.nativeDelete(InstructionRevision, { agentId });
  await em.nativeDelete(Agent, { id: agentId });
}
