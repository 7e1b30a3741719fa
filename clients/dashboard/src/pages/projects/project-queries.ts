import type { Api } from "../../api.ts";

export type ProjectDetail = Awaited<ReturnType<Api["projects"]["get"]["query"]>>;
export type ProjectKind = ProjectDetail["kind"];

export const PROJECT_KIND_OPTIONS = [
  ["client", "Client"],
  ["engagement", "Engagement"],
  ["capability", "Capability"],
] as const satisfies readonly (readonly [ProjectKind, string])[];

/** The key of every list of an organization's projects. */
export const projectsKey = (orgId: string) => ["projects", orgId];

/** The beginning of the keys of all queries of a project: a document changes its search and its counts. */
export const projectKey = (orgId: string, projectId: string) => ["project", orgId, projectId];
