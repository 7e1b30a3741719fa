import type { EntityManager } from "@mikro-orm/core";
import { agentNotFound } from "../agents/agent-view.ts";
import { findAgent } from "../agents/find-agent.ts";
import type { Db } from "../database-types.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import { acquireAdvisoryLock } from "../shared/advisory-lock.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";

export interface ReadMemoriesDeps {
  db: Db;
}

export interface ChangeMemoriesDeps extends ReadMemoriesDeps {
  em: EntityManager;
}

/** The agent that memories belong to, as their scope in the search index. */
export function memoriesOf(orgId: string, agentId: string): ScopeKey {
  return { orgId, kind: "memory", ownerId: agentId };
}

/**
 * Finds the agent whose memories a call uses, as `findAgent` does. With a gateway token, an agent uses only its own memories.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `forbidden` for a gateway token of another agent
 */
export async function findMemoryOwner(db: Db, caller: Caller, agentId: string | undefined): Promise<ScopeKey> {
  const agent = await findAgent(db, caller, agentId);
  if (caller.agentId === undefined || caller.agentId === agent.id) return memoriesOf(caller.orgId, agent.id);
  throw new ServiceError(
    "forbidden",
    "A gateway token can use only the memories of its own agent. Omit agent_id, or use the personal access token of a user.",
  );
}

/**
 * Makes other changes of an agent's memories wait until the transaction of `tx` ends, and its deletion too.
 *
 * @throws {ServiceError} `not_found` for an agent that has been deleted meanwhile
 */
export async function lockMemories(tx: Db, { orgId, ownerId }: ScopeKey): Promise<void> {
  const agent = await tx
    .selectFrom("agents")
    .select("id")
    .where("id", "=", ownerId)
    .where("org_id", "=", orgId)
    .forShare()
    .executeTakeFirst();
  if (agent === undefined) throw agentNotFound();
  await acquireAdvisoryLock(tx, `memories ${ownerId}`);
}
