import MiniSearch from "minisearch";
import { AgentServer } from "../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../domain/agents/agent.entity.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { searchMemories } from "../../domain/memory/recall-memories.ts";
import { writeMemory } from "../../domain/memory/write-memory.ts";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import type { Orm } from "../../server/database/orm.ts";
import type { Conversation } from "./conversation.ts";

/** Returns the ids of the turns that a query finds, the best first. */
export type Recall = (query: string) => Promise<Set<string>[]>;

const HITS = 10;

/** The memories of one agent. */
export interface StoredConversation {
  recall: Recall;
  /** Makes it look as if each turn had been stored when it was said. */
  setTimes(): Promise<void>;
}

/** Stores each turn as a memory of a new agent, one after the other. */
export async function storeConversation(orm: Orm, { turns }: Conversation): Promise<StoredConversation> {
  const { caller, agentId } = await createAgentOfOrganization(orm);
  const deps = { em: orm.em, db: queryBuilderOf(orm.em.fork()) };
  // Two turns with the same text are one memory.
  const turnsOf = new Map<string, Set<string>>();
  const timeOf = new Map<string, Date>();
  for (const { id, content, at } of turns) {
    const written = await writeMemory(deps, caller, { agent_id: agentId, content, kind: "fact" });
    turnsOf.set(written.memory_id, (turnsOf.get(written.memory_id) ?? new Set()).add(id));
    if (written.status !== "duplicate") timeOf.set(written.memory_id, at);
  }
  return {
    recall: async (q) => {
      const search = { db: deps.db, queryEmbedder: null };
      const { memories } = await searchMemories(search, caller, { id: agentId, q, limit: HITS });
      return memories.map(({ memory_id }) => turnsOf.get(memory_id) ?? new Set());
    },
    setTimes: async () => {
      const times = JSON.stringify([...timeOf].map(([id, at]) => ({ id, at })));
      await orm.em.fork().execute(
        `update memories set created_at = said.at, updated_at = said.at
         from jsonb_to_recordset(?::jsonb) as said (id uuid, at timestamptz) where memories.id = said.id`,
        [times],
      );
    },
  };
}

async function createAgentOfOrganization(orm: Orm): Promise<{ caller: Caller; agentId: string }> {
  return await orm.em.fork().transactional(async (em) => {
    const { org_id: orgId } = await createOrganization(em, { name: "Bench", email: "bench@example.com", plan: "free" });
    const server = em.create(AgentServer, { orgId, name: "Bench" });
    const agent = em.create(Agent, { orgId, serverId: server.id, name: "Bench", isMain: true });
    await em.flush();
    const credential = { kind: "operator", id: "bench" } as const;
    return { caller: { orgId, userId: null, role: "owner", scope: null, credential }, agentId: agent.id };
  });
}

/** Plain BM25 over the same texts. */
export function indexWithMiniSearch({ turns }: Conversation): Recall {
  const index = new MiniSearch({ fields: ["content"] });
  index.addAll(turns);
  return (query) =>
    Promise.resolve(
      index
        .search(query)
        .slice(0, HITS)
        .map(({ id }) => new Set([String(id)])),
    );
}
