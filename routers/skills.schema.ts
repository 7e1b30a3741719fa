import { z } from "zod";
import { PLATFORMS } from "../domain/agents/agent-runtime.ts";
import type { RuntimeView } from "../domain/agents/declare-runtime.ts";
import type { EnabledSkillView } from "../domain/skills/enable-skill.ts";
import type { AgentSkillPage } from "../domain/skills/list-agent-skills.ts";
import type { SkillPage } from "../domain/skills/read-skills.ts";
import { SKILL_LIMITS } from "../domain/skills/skill-limits.ts";
import type { SkillDetail } from "../domain/skills/skill-view.ts";
import type { UploadedSkill, UploadSkill } from "../domain/skills/upload-skill.ts";
import { ENCODINGS } from "../domain/skills/uploaded-files.ts";
import { requestedHost } from "./apps.schema.ts";
import { timestamp } from "./core/common.schema.ts";

const EXAMPLE_ID = "5b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e";
const id = z.uuid().meta({ description: "The agent's id", examples: [EXAMPLE_ID] });
const name = z.string().meta({ description: "The skill's name", examples: ["pdf-forms"] });
const cursor = z.string().max(200).optional().meta({ description: "`next_cursor` of the previous page" });
const nextCursor = z.string().nullable();

const source = z.string().meta({
  description: "`upload`, or the repository, branch and folder",
  examples: ["acme/skills@main:skills/pdf-forms"],
});

const names = z.array(z.string());

const requirements = z.object({
  binaries: names,
  any_binaries: names.meta({ description: "One of them is enough" }),
  environment: names,
  configuration: names,
  platforms: names.meta({ description: "Empty for every platform" }),
});

const summary = {
  name: z.string(),
  description: z.string(),
  source,
  commit: z.string().nullable(),
  requirements,
  content_hash: z.string().meta({ description: "The SHA-256 of the paths and contents of the files" }),
  file_count: z.int(),
  size_bytes: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
};

export const skillDetail = z
  .object({
    ...summary,
    license: z.string().nullable(),
    compatibility: z.string().nullable(),
    allowed_tools: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    files: z.array(z.object({ path: z.string(), size_bytes: z.int() })),
  })
  .meta({ id: "Skill" }) satisfies z.ZodType<SkillDetail>;

export const uploadedSkill = skillDetail
  .extend({
    warnings: z
      .array(z.string())
      .meta({ description: "What some agents may not accept, such as a long description. The skill is stored" }),
  })
  .meta({ id: "UploadSkillResponse" }) satisfies z.ZodType<UploadedSkill>;

export const listSkillsRequest = z.strictObject({
  limit: z.int().min(1).max(100).default(50).meta({ description: "Maximum number of skills" }),
  cursor,
});

export const skillPage = z
  .object({ skills: z.array(z.object(summary)), next_cursor: nextCursor })
  .meta({ id: "ListSkillsResponse" }) satisfies z.ZodType<SkillPage>;

const path = z.string().meta({ description: "Relative to the folder of the skill", examples: ["scripts/fill.py"] });

const uploadedFile = z.strictObject({
  path,
  content: z.string(),
  encoding: z.enum(ENCODINGS).optional().meta({ description: "Of the content; by default utf-8" }),
});

export const uploadSkillRequest = z
  .strictObject({
    name,
    files: z.array(uploadedFile).max(SKILL_LIMITS.files).optional().meta({ description: "The files of the skill" }),
    archive: z.string().optional().meta({ description: "A zip file of the folder in base64, instead of `files`" }),
    repo: z
      .string()
      .optional()
      .meta({
        description: "A repository that contains the folder, as owner/name, instead of `files`",
        examples: ["acme/skills"],
      }),
    host: requestedHost.optional(),
    branch: z.string().optional().meta({ description: "By default `main`, or the default branch of the repository" }),
    path: z
      .string()
      .optional()
      .meta({
        description: "The folder of the skill in the repository; by default its root",
        examples: ["skills/pdf-forms"],
      }),
    agent_ids: z.array(z.uuid()).max(100).optional().meta({ description: "Agents for which to enable the skill" }),
    expected_hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, "must be a SHA-256 in hex, such as a content_hash")
      .nullable()
      .optional()
      .meta({
        description:
          "The `content_hash` that you have read, `null` for a new skill. If it is not the current one, nothing is stored",
      }),
  })
  .meta({ id: "UploadSkillRequest" }) satisfies z.ZodType<UploadSkill>;

export const skillRequest = z.strictObject({ name });

export const skillFilesRequest = z.strictObject({ name, path: path.optional() });

export const skillFiles = z
  .object({ files: z.array(z.object({ path: z.string(), content: z.string(), encoding: z.enum(ENCODINGS) })) })
  .meta({ id: "SkillFilesResponse" });

export const enableSkillRequest = z
  .strictObject({ id, name, enabled: z.boolean().meta({ description: "Whether the agent may use the skill" }) })
  .meta({ id: "EnableSkillRequest" });

export const enabledSkill = z
  .object({ agent_id: z.string(), name: z.string(), enabled: z.boolean() })
  .meta({ id: "EnabledSkill" }) satisfies z.ZodType<EnabledSkillView>;

export const listAgentSkillsRequest = z.strictObject({ id, cursor });

export const listAgentSkillsToolRequest = z.strictObject({
  agent_id: z.uuid().optional().meta({ description: "Default: your own agent, or the main agent" }),
  cursor: z.string().max(200).optional().meta({ description: "next_cursor of the previous page" }),
});

export const agentSkillPage = z.object({
  agent_id: z.string(),
  skills: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      source: z.string(),
      eligible: z.boolean(),
      missing: z.array(z.string()),
    }),
  ),
  note: z.string().nullable(),
  next_cursor: nextCursor,
}) satisfies z.ZodType<AgentSkillPage>;

export const agentRuntimeRequest = z.strictObject({ id });

export const declareRuntimeRequest = z
  .strictObject({
    id,
    platform: z.enum(PLATFORMS).nullable().optional().meta({ description: "As Node's `process.platform`" }),
    binaries: names.optional().meta({ description: "Programs that the agent can start", examples: [["ffmpeg"]] }),
    environment: names.optional().meta({
      description: "Names of environment variables that are set, never their values",
      examples: [["OPENAI_API_KEY"]],
    }),
    configuration: names.optional().meta({
      description: "Configuration keys that are set",
      examples: [["channels.slack"]],
    }),
  })
  .meta({ id: "DeclareRuntimeRequest" });

export const agentRuntime = z
  .object({
    agent_id: z.string(),
    declared: z.boolean().meta({ description: "Whether the agent has declared its runtime" }),
    platform: z.enum(PLATFORMS).nullable(),
    binaries: names,
    environment: names,
    configuration: names,
  })
  .meta({ id: "AgentRuntime" }) satisfies z.ZodType<RuntimeView>;
