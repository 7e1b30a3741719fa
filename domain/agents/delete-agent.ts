import { type EntityManager, LockMode } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { type Db, queryBuilderOf } from "../database-types.ts";
import { BATCHES_OF_REQUEST, deleteSessions, removeDeletedEntries } from "../retention/deleted-sessions.ts";
import { removeMemories } from "../retention/removed-memories.ts";
import { InstructionRevision } from "./instruction-revision.entity.ts";
import type { AgentWorkspaces } from "../ports/agent-workspaces.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction, inTransaction } from "../shared/transaction.ts";
import { MachineToken } from "../tokens/machine-token.entity.ts";
import { AgentServer } from "./agent-server.entity.ts";
import { Agent } from "./agent.entity.ts";
import { agentNotFound, checkIsManaged, serverNotFound } from "./agent-view.ts";
import { lockOfServers } from "./create-server.ts";
import { removeEnabledSkills } from "./remove-enabled-skills.ts";
import { removeProjectMounts } from "./remove-project-mounts.ts";

/** The dependencies of what follows after agents are removed. */
export interface RemoveAgentsDeps {
  db: Db;
  agentWorkspaces: AgentWorkspaces;
  accessChanges: ChangeFeed;
}

export interface DeleteAgentDeps extends RemoveAgentsDeps {
  em: EntityManager;
  serverChanges: ChangeFeed;
}

/**
 * Deletes a specialized agent with everything that belongs to it, and revokes its tokens immediately.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `conflict` for the main agent of a server, and
 *   for an agent of a gateway
 */
export async function deleteAgent(
  { em: root, ...deps }: DeleteAgentDeps,
  { orgId }: Caller,
  id: string,
): Promise<{ status: "deleted" }> {
  await inTransaction(root, async (em) => {
    const agent = await em.findOne(Agent, { id, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (agent === null) throw agentNotFound();
    checkIsManaged(await em.findOneOrFail(AgentServer, { id: agent.serverId }));
    if (agent.isMain)
      throw new ServiceError("conflict", "The main agent of a server cannot be deleted. Delete the server instead.");
    await removeAgents(em, orgId, [id]);
  });
  await finishRemoval(deps, orgId, [id]);
  return { status: "deleted" };
}

/**
 * Deletes a server with its agents and everything that belongs to them, and revokes their tokens immediately.
 *
 * @throws {ServiceError} `not_found` when the organization has no such server; `conflict` for its only server
 */
export async function deleteServer(
  { em: root, serverChanges, ...deps }: DeleteAgentDeps,
  { orgId }: Caller,
  id: string,
): Promise<{ status: "deleted" }> {
  const agentIds = await inLockedTransaction(root, [lockOfServers(orgId)], async (em) => {
    const servers = await em.count(AgentServer, { orgId });
    // Locked, so that no agent is added meanwhile.
    const server = await em.findOne(AgentServer, { id, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (server === null) throw serverNotFound();
    if (servers === 1)
      throw new ServiceError("conflict", "This is the organization's only server. Create another server first.");
    const agents = await em.find(Agent, { serverId: id }, { fields: ["id"] });
    const ids = agents.map((agent) => agent.id);
    await removeAgents(em, orgId, ids);
    await em.nativeDelete(AgentServer, { id });
    return ids;
  });
  serverChanges.announce(id);
  await finishRemoval(deps, orgId, agentIds);
  return { status: "deleted" };
}

/**
 * Does what follows after the transaction that has removed agents. The agents are deleted, so a failure does not fail the
 * call: the sweep removes what is left.
 */
export async function finishRemoval(
  { db, agentWorkspaces, accessChanges }: RemoveAgentsDeps,
  orgId: string,
  agentIds: readonly string[],
): Promise<void> {
  accessChanges.announce(orgId);
  await Promise.allSettled(agentIds.map((agentId) => agentWorkspaces.remove({ orgId, agentId })));
  await removeDeletedEntries(db, { maxBatches: BATCHES_OF_REQUEST });
}

/**
 * Removes agents of an organization with everything that belongs to them, in the transaction of `em`. Afterwards, call
 * `finishRemoval`.
 */
export async function removeAgents(em: SqlEntityManager, orgId: string, ids: string[]): Promise<void> {
  const agentId = { $in: ids };
  await em.nativeUpdate(MachineToken, { agentId, revokedAt: null }, { revokedAt: new Date() });
  await em.nativeDelete(Agent, { id: agentId });
  // Only now: a transaction that adds something to an agent locks it until it commits.
  await em.nativeDelete(InstructionRevision, { agentId });
  await removeEnabledSkills(queryBuilderOf(em), "agent_id", ids);
  await removeProjectMounts(queryBuilderOf(em), "agent_id", ids);
  await removeMemories(queryBuilderOf(em), orgId, ids);
  await deleteSessions(queryBuilderOf(em), "agent_id", ids);
}
