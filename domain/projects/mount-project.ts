import type { EntityManager } from "@mikro-orm/core";
import { agentNotFound } from "../agents/agent-view.ts";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import { lockProject } from "./find-project.ts";
import { PROJECT_LIMITS } from "./project-rules.ts";

export interface MountProjectDeps {
  em: EntityManager;
}

export interface MountProject {
  /** The project. */
  id: string;
  agent_id: string;
}

export interface ProjectMountView {
  project_id: string;
  agent_id: string;
  mounted: boolean;
}

/**
 * Mounts a project on an agent, which can then search it. Repeating a call changes nothing.
 *
 * @throws {ServiceError} `not_found` when the organization has no such project or agent; `conflict` when the agent has too many
 */
export function mountProject(deps: MountProjectDeps, caller: Caller, mount: MountProject): Promise<ProjectMountView> {
  return changeMount(deps, caller, mount, async (tx) => {
    await mountOnAgents(tx, caller, mount.id, [mount.agent_id]);
    return true;
  });
}

/**
 * Unmounts a project from an agent. Repeating a call changes nothing.
 *
 * @throws {ServiceError} `not_found` when the organization has no such project or agent
 */
export function unmountProject(deps: MountProjectDeps, caller: Caller, mount: MountProject): Promise<ProjectMountView> {
  return changeMount(deps, caller, mount, async (tx) => {
    await lockAgents(tx, caller, [mount.agent_id]);
    await tx
      .deleteFrom("project_mounts")
      .where("project_id", "=", mount.id)
      .where("agent_id", "=", mount.agent_id)
      .execute();
    return false;
  });
}

async function changeMount(
  { em: root }: MountProjectDeps,
  caller: Caller,
  { id, agent_id: agentId }: MountProject,
  change: (tx: Db) => Promise<boolean>,
): Promise<ProjectMountView> {
  const mounted = await inTransaction(root, async (em) => {
    const tx = queryBuilderOf(em);
    await lockProject(tx, caller, id, "share");
    return change(tx);
  });
  return { project_id: id, agent_id: agentId, mounted };
}

/**
 * Mounts a locked project on agents, in the transaction of `tx`.
 *
 * @throws {ServiceError} `not_found` when the organization does not have one of the agents; `conflict` when one has too many projects
 */
export async function mountOnAgents(
  tx: Db,
  caller: Caller,
  projectId: string,
  agentIds: readonly string[],
): Promise<void> {
  const ids = [...new Set(agentIds.map((id) => id.toLowerCase()))];
  if (ids.length === 0) return;
  await lockAgents(tx, caller, ids);
  await tx
    .insertInto("project_mounts")
    .values(ids.map((agentId) => ({ agent_id: agentId, project_id: projectId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await checkMountCounts(tx, ids);
}

/** Until the transaction ends, the agents cannot be deleted, and no other project can be mounted on them. */
async function lockAgents(tx: Db, { orgId }: Caller, ids: readonly string[]): Promise<void> {
  const agents = await tx
    .selectFrom("agents")
    .select("id")
    .where("org_id", "=", orgId)
    .where("id", "in", ids)
    .orderBy("id")
    .forUpdate()
    .execute();
  if (agents.length < ids.length) throw agentNotFound();
}

async function checkMountCounts(tx: Db, agentIds: readonly string[]): Promise<void> {
  const { mountsOfAgent } = PROJECT_LIMITS;
  const full = await tx
    .selectFrom("project_mounts")
    .select("agent_id")
    .where("agent_id", "in", agentIds)
    .groupBy("agent_id")
    .having(({ fn }) => fn.countAll(), ">", mountsOfAgent)
    .executeTakeFirst();
  if (full === undefined) return;
  throw new ServiceError(
    "conflict",
    `An agent can have at most ${mountsOfAgent} projects. Unmount projects that it does not need any more.`,
  );
}
