import { z } from "zod";
import type { MountedProject, ProjectDetail, ProjectPage } from "../domain/projects/list-projects.ts";
import type { ProjectMountView } from "../domain/projects/mount-project.ts";
import { PROJECT_KINDS, PROJECT_LIMITS } from "../domain/projects/project-rules.ts";
import type { FoundDocument, ProjectHits } from "../domain/projects/search-project.ts";
import { timestamp } from "./core/common.schema.ts";
import { EMPTY_TEXT_IS_A_VALUE } from "./core/omit-absent.ts";

const EXAMPLE_ID = "5b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e";

export const projectId = z.uuid().meta({ description: "The project's id", examples: [EXAMPLE_ID] });
const agentId = z.uuid().meta({ description: "The agent's id", examples: [EXAMPLE_ID] });
const name = z.string().meta({
  description: `Unique in the organization: one line of at most ${PROJECT_LIMITS.nameCharacters} characters`,
  examples: ["Acme"],
});
const kind = z.enum(PROJECT_KINDS);
const description = z
  .string()
  .meta({
    description: `What agents find in the project, at most ${PROJECT_LIMITS.descriptionCharacters} characters`,
  })
  .register(EMPTY_TEXT_IS_A_VALUE, { reason: "it removes the description" });
const kindFilter = kind.optional().meta({ description: "Only projects of this kind" });
const cursor = z.string().max(600).optional().meta({ description: "`next_cursor` of the previous page" });

const mounted = {
  project_id: z.string(),
  name: z.string(),
  kind,
  description: z.string(),
  document_count: z.number(),
};

const project = { ...mounted, document_count: z.int(), created_at: timestamp, updated_at: timestamp };

export const projectResponse = z
  .object({ ...project, agents: z.array(z.object({ agent_id: z.string(), name: z.string() })) })
  .meta({ id: "Project" }) satisfies z.ZodType<ProjectDetail>;

export const createProjectRequest = z
  .strictObject({
    name,
    kind,
    description: description.optional(),
    agent_ids: z
      .array(agentId)
      .max(PROJECT_LIMITS.agentsOfRequest)
      .optional()
      .meta({ description: "The agents on which the project is mounted" }),
  })
  .meta({ id: "CreateProjectRequest" });

export const updateProjectRequest = z
  .strictObject({ id: projectId, name: name.optional(), kind: kind.optional(), description: description.optional() })
  .meta({ id: "UpdateProjectRequest" });

export const projectRequest = z.strictObject({ id: projectId });

export const listProjectsRequest = z.strictObject({
  kind: kindFilter,
  agent_id: z.uuid().optional().meta({ description: "Only projects that are mounted on this agent" }),
  limit: z.int().min(1).max(100).optional().meta({ description: "Maximum number; 50 by default" }),
  cursor,
});

export const projectPage = z
  .object({ projects: z.array(z.object(project)), next_cursor: z.string().nullable() })
  .meta({ id: "ListProjectsResponse" }) satisfies z.ZodType<ProjectPage>;

export const projectMountRequest = z.strictObject({ id: projectId, agent_id: agentId });

export const projectMount = z
  .object({ project_id: z.string(), agent_id: z.string(), mounted: z.boolean() })
  .meta({ id: "ProjectMount" }) satisfies z.ZodType<ProjectMountView>;

export const searchProjectRequest = z.strictObject({
  id: projectId,
  q: z.string().meta({ description: "Words, or a question" }),
  limit: z.int().min(1).max(50).optional().meta({ description: "Maximum number; 10 by default" }),
});

const hit = { document_id: z.string(), title: z.string(), snippet: z.string(), score: z.number() };

export const foundDocuments = z
  .object({ hits: z.array(z.object(hit)) })
  .meta({ id: "SearchProjectResponse" }) satisfies z.ZodType<{ hits: FoundDocument[] }>;

export const listProjectsToolRequest = z.strictObject({
  kind: kindFilter,
  agent_id: z.uuid().optional().meta({ description: "Default: your own agent, or the main agent" }),
  cursor: z.string().max(600).optional().meta({ description: "next_cursor of the previous page" }),
});

export const mountedProjectPage = z.object({
  projects: z.array(z.object(mounted)),
  next_cursor: z.string().nullable(),
}) satisfies z.ZodType<ProjectPage<MountedProject>>;

export const searchProjectToolRequest = z.strictObject({
  project_id: z.uuid().meta({ description: "From projects_list" }),
  query: z.string().meta({ description: "What you look for" }),
  limit: z.int().min(1).max(50).default(8).meta({ description: "Maximum number of documents" }),
});

export const projectHits = z.object({
  hits: z.array(z.object(hit)),
  cut: z.string().nullable(),
}) satisfies z.ZodType<ProjectHits>;
