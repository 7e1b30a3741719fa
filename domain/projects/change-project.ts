import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { checkDisplayName } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { lockProject } from "./find-project.ts";
import { getProject, type ProjectDetail } from "./list-projects.ts";
import { mountOnAgents } from "./mount-project.ts";
import { checkDescription, PROJECT_LIMITS, type ProjectKind } from "./project-rules.ts";

export interface ChangeProjectDeps {
  em: EntityManager;
  db: Db;
}

export interface CreateProject {
  /** Unique in the organization. */
  name: string;
  kind: ProjectKind;
  description?: string | undefined;
  /** The agents on which it is mounted at once. */
  agent_ids?: readonly string[] | undefined;
}

/**
 * Creates a project, and mounts it on agents.
 *
 * @throws {ServiceError} `invalid` for a value that is not allowed; `not_found` when the organization does not have one of the
 *   agents; `conflict` when a project has the name, or there are too many
 */
export async function createProject(
  { em: root, db }: ChangeProjectDeps,
  caller: Caller,
  { name, kind, description = "", agent_ids: agentIds = [] }: CreateProject,
): Promise<ProjectDetail> {
  checkDisplayName(name);
  checkDescription(description);
  const id = randomUUID();
  await inLockedTransaction(root, [lockOfNames(caller)], async (em) => {
    const tx = queryBuilderOf(em);
    await checkNameIsFree(tx, caller, name);
    await checkProjectCount(tx, caller);
    const now = new Date();
    const row = { id, org_id: caller.orgId, name, kind, description, created_at: now, updated_at: now };
    await tx.insertInto("projects").values(row).execute();
    await mountOnAgents(tx, caller, id, agentIds);
  });
  return getProject({ db }, caller, id);
}

export interface UpdateProject {
  id: string;
  name?: string | undefined;
  kind?: ProjectKind | undefined;
  description?: string | undefined;
}

/**
 * Changes the given fields of a project.
 *
 * @throws {ServiceError} `invalid` for a value that is not allowed; `not_found` when the organization has no such project;
 *   `conflict` when another project has the name
 */
export async function updateProject(
  { em: root, db }: ChangeProjectDeps,
  caller: Caller,
  { id, name, kind, description }: UpdateProject,
): Promise<ProjectDetail> {
  if (name !== undefined) checkDisplayName(name);
  if (description !== undefined) checkDescription(description);
  await inLockedTransaction(root, [lockOfNames(caller)], async (em) => {
    const tx = queryBuilderOf(em);
    const row = await lockProject(tx, caller, id, "update");
    if (name !== undefined && name !== row.name) await checkNameIsFree(tx, caller, name);
    await tx
      .updateTable("projects")
      .set({
        name: name ?? row.name,
        kind: kind ?? row.kind,
        description: description ?? row.description,
        updated_at: new Date(),
      })
      .where("id", "=", row.id)
      .execute();
  });
  return getProject({ db }, caller, id);
}

/** Makes simultaneous changes of the names of an organization's projects wait for each other. */
function lockOfNames({ orgId }: Caller): string {
  return `projects ${orgId}`;
}

async function checkNameIsFree(tx: Db, { orgId }: Caller, name: string): Promise<void> {
  const other = await tx
    .selectFrom("projects")
    .select("id")
    .where("org_id", "=", orgId)
    .where("name", "=", name)
    .executeTakeFirst();
  if (other === undefined) return;
  throw new ServiceError("conflict", `The project ${other.id} of the organization has this name. Choose another name.`);
}

async function checkProjectCount(tx: Db, { orgId }: Caller): Promise<void> {
  const { projectsOfOrganization } = PROJECT_LIMITS;
  const { count } = await tx
    .selectFrom("projects")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("org_id", "=", orgId)
    .executeTakeFirstOrThrow();
  if (Number(count) < projectsOfOrganization) return;
  throw new ServiceError(
    "conflict",
    `An organization can have at most ${projectsOfOrganization} projects. Delete projects that are not needed any more.`,
  );
}
