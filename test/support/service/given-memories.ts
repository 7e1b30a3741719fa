import { searchMemories } from "../../../domain/memory/recall-memories.ts";
import { writeMemory } from "../../../domain/memory/write-memory.ts";
import type { MemoryKind } from "../../../domain/memory/memory-rules.ts";
import type { QueryEmbedder } from "../../../domain/search/query-embedder.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { givenAgent } from "./given-agent.ts";
import type { Harness, Tenant } from "./harness.ts";

/** The memories of one agent, written and searched with the functions of the domain. */
export class GivenMemories {
  readonly agentId: string;
  readonly caller: Caller;
  readonly #service: () => Harness;

  private constructor(service: () => Harness, agentId: string, caller: Caller) {
    this.#service = service;
    this.agentId = agentId;
    this.caller = caller;
  }

  /** Those of a new agent. */
  static async create(service: () => Harness, tenant: Tenant): Promise<GivenMemories> {
    const { id } = await givenAgent(service().service.publicUrl, tenant.rest);
    const credential = { kind: "operator", id: "test" } as const;
    return new GivenMemories(service, id, {
      orgId: tenant.org_id,
      userId: null,
      role: "owner",
      scope: null,
      credential,
    });
  }

  get deps() {
    const { db, orm } = this.#service().service.parts;
    return { db, em: orm.em };
  }

  /** Stores memories one after the other, and returns their ids. */
  async store(...contents: string[]): Promise<string[]> {
    return await this.storeAs("fact", ...contents);
  }

  async storeAs(kind: MemoryKind, ...contents: string[]): Promise<string[]> {
    const ids: string[] = [];
    for (const content of contents)
      ids.push((await writeMemory(this.deps, this.caller, { agent_id: this.agentId, content, kind })).memory_id);
    return ids;
  }

  /** Makes it look as if a content had been stored then. */
  async setTime(content: string, at: Date): Promise<void> {
    await this.deps.db
      .updateTable("memories")
      .set({ created_at: at, updated_at: at })
      .where("agent_id", "=", this.agentId)
      .where("content", "=", content)
      .execute();
  }

  /** Returns the contents that a query finds, the best first. */
  async recall(
    q: string,
    { kind, queryEmbedder = null }: { kind?: MemoryKind; queryEmbedder?: QueryEmbedder | null } = {},
  ): Promise<string[]> {
    const search = { db: this.deps.db, queryEmbedder };
    const { memories } = await searchMemories(search, this.caller, { id: this.agentId, q, kind, limit: 50 });
    return memories.map(({ content }) => content);
  }
}
