import { findOwnAgent } from "../agents/find-agent.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { isPlainLine } from "../shared/display-name.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { invalidCursor } from "../shared/keyset-cursor.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { findProject, type ProjectRow } from "./find-project.ts";
import { PROJECT_LIMITS, type ProjectKind } from "./project-rules.ts";

export interface ReadProjectsDeps {
  db: Db;
}

/** A project as an agent sees it. */
export interface MountedProject {
  project_id: string;
  name: string;
  kind: ProjectKind;
  description: string;
  document_count: number;
}

export interface ProjectView extends MountedProject {
  created_at: string;
  updated_at: string;
}

export interface ProjectDetail extends ProjectView {
  /** The agents on which the project is mounted, by name. */
  agents: { agent_id: string; name: string }[];
}

export interface ProjectPage<T = ProjectView> {
  projects: T[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

export interface ListProjects {
  kind?: ProjectKind | undefined;
  /** Only projects that are mounted on this agent. */
  agent_id?: string | undefined;
  /** The maximum number of projects; 50 by default. */
  limit?: number | undefined;
  /** The `next_cursor` of an earlier page; without it, the first page is returned. */
  cursor?: string | undefined;
}

/**
 * Lists the projects of the organization by name.
 *
 * @throws {ServiceError} `invalid` for a cursor that this service did not return
 */
export async function listProjects(
  { db }: ReadProjectsDeps,
  { orgId }: Caller,
  { kind, agent_id: agentId, limit = 50, cursor }: ListProjects,
): Promise<ProjectPage> {
  const after = cursor === undefined ? "" : decodeCursor(cursor);
  const rows = await selectProjects(db, orgId)
    .where("project.name", ">", after)
    .$if(kind !== undefined, (query) => query.where("project.kind", "=", kind as ProjectKind))
    .$if(agentId !== undefined, (query) =>
      query
        .innerJoin("project_mounts as mount", "mount.project_id", "project.id")
        .where("mount.agent_id", "=", agentId ?? ""),
    )
    .orderBy("project.name")
    .limit(limit + 1)
    .execute();
  return toPage(rows.slice(0, limit).map(toProjectView), rows.length > limit);
}

/** What remains for the projects, because the cursor has to fit too. */
const PROJECTS_CHARACTERS = RESPONSE_CHARACTERS - 600;

/**
 * Lists the projects that are mounted on an agent, by name. A page ends after `limit` projects, or earlier at the size limit of a
 * response.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `forbidden` for a gateway token of another agent;
 *   `invalid` for a cursor that this service did not return
 */
export async function listMountedProjects(
  deps: ReadProjectsDeps,
  caller: Caller,
  request: ListProjects,
): Promise<ProjectPage<MountedProject>> {
  const agent = await findOwnAgent(deps.db, caller, request.agent_id);
  const page = await listProjects(deps, caller, { ...request, agent_id: agent.id });
  const mounted = page.projects.map(({ created_at: _created, updated_at: _updated, ...project }) => project);
  const projects = takeWithinBudget(mounted, PROJECTS_CHARACTERS);
  return toPage(projects, projects.length < mounted.length || page.next_cursor !== null);
}

/**
 * Returns a project with the agents on which it is mounted.
 *
 * @throws {ServiceError} `not_found` when the organization has no such project
 */
export async function getProject({ db }: ReadProjectsDeps, caller: Caller, id: string): Promise<ProjectDetail> {
  const { id: projectId } = await findProject(db, caller, id);
  const row = await selectProjects(db, caller.orgId).where("project.id", "=", projectId).executeTakeFirstOrThrow();
  const agents = await db
    .selectFrom("project_mounts as mount")
    .innerJoin("agents as agent", "agent.id", "mount.agent_id")
    .select(["agent.id as agent_id", "agent.name"])
    .where("mount.project_id", "=", projectId)
    .where("agent.org_id", "=", caller.orgId)
    .orderBy("agent.name")
    .orderBy("agent.id")
    .execute();
  return { ...toProjectView(row), agents };
}

function selectProjects(db: Db, orgId: string) {
  return db
    .selectFrom("projects as project")
    .selectAll("project")
    .select(({ selectFrom }) =>
      selectFrom("documents as document")
        .select(({ fn }) => fn.countAll<string>().as("count"))
        .where("document.org_id", "=", orgId)
        .whereRef("document.project_id", "=", "project.id")
        .as("document_count"),
    )
    .where("project.org_id", "=", orgId);
}

function toProjectView(row: ProjectRow & { document_count: string | null }): ProjectView {
  return {
    project_id: row.id,
    name: row.name,
    kind: row.kind,
    description: row.description,
    document_count: Number(row.document_count),
    created_at: toIsoTimestamp(row.created_at),
    updated_at: toIsoTimestamp(row.updated_at),
  };
}

function toPage<T extends { name: string }>(projects: T[], hasMore: boolean): ProjectPage<T> {
  const last = projects.at(-1);
  const hasNext = hasMore && last !== undefined;
  return { projects, next_cursor: hasNext ? Buffer.from(last.name).toString("base64url") : null };
}

function decodeCursor(cursor: string): string {
  const name = Buffer.from(cursor, "base64url").toString();
  if (isPlainLine(name, PROJECT_LIMITS.nameCharacters) && Buffer.from(name).toString("base64url") === cursor)
    return name;
  throw invalidCursor();
}
