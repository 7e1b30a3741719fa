import type { EntityManager } from "@mikro-orm/core";
import { agentNotFound } from "../agents/agent-view.ts";
import { findOwnAgent } from "../agents/find-agent.ts";
import type { Db } from "../database-types.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import type { Caller } from "../shared/caller.ts";

export interface ReadMemoriesDeps {
  db: Db;
}

export interface ChangeMemoriesDeps extends ReadMemoriesDeps {
  em: EntityManager;
}

/**
 * Finds the agent whose memories a call uses, as `findOwnAgent` does. With a gateway token, an agent uses only its own memories.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `forbidden` for a gateway token of another agent
 */
export async function findMemoryScope(db: Db, caller: Caller, agentId: string | undefined): Promise<ScopeKey> {
  const agent = await findOwnAgent(db, caller, agentId);
  return { orgId: caller.orgId, kind: "memory", ownerId: agent.id };
}

/** The lock of changes of an agent's memories. */
export function lockOfMemories({ ownerId }: ScopeKey): string {
  return `memories ${ownerId}`;
}

/**
 * Makes the deletion of an agent wait until the transaction of `tx`, which changes its memories, ends.
 *
 * @throws {ServiceError} `not_found` for an agent that has been deleted meanwhile
 */
export async function lockMemoryAgent(tx: Db, { orgId, ownerId }: ScopeKey): Promise<void> {
  const agent = await tx
    .selectFrom("agents")
    .select("id")
    .where("id", "=", ownerId)
    .where("org_id", "=", orgId)
    .forShare()
    .executeTakeFirst();
  if (agent === undefined) throw agentNotFound();
}
