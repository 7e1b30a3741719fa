import { z } from "zod";
import { INSTRUCTION_LIMITS } from "../domain/agents/instruction-rules.ts";
import type { Instructions, RevisionPage, RevisionView } from "../domain/agents/read-instructions.ts";
import type { ChangedInstructions, SetInstructions } from "../domain/agents/set-instructions.ts";
import { timestamp } from "./core/common.schema.ts";
import { EMPTY_TEXT_IS_A_VALUE } from "./core/omit-absent.ts";

const id = z.uuid().meta({ description: "The agent's id", examples: ["5b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"] });
const hash = z.string().regex(/^[0-9a-f]{64}$/i, "must be a SHA-256 in hex, such as a content_hash");
const content = z.string().meta({ description: `The whole new AGENTS.md, at most ${INSTRUCTION_LIMITS.bytes} bytes` });
const expectedHash = hash.optional().meta({
  description: "The content_hash you have read. If the instructions have changed since, nothing is replaced",
});
const agentOfTool = z.uuid().optional().meta({ description: "Default: your own agent, or the main agent" });
const revisionNumber = z.int().min(1).max(999_999_999);

export const readInstructionsToolRequest = z.strictObject({ agent_id: agentOfTool });

export const instructionsResponse = z.object({
  agent_id: z.string(),
  content: z.string(),
  content_hash: z.string(),
  revision: z.number(),
  updated_at: z.string(),
}) satisfies z.ZodType<Instructions>;

export const setInstructionsToolRequest = z.strictObject({
  content: content.optional().register(EMPTY_TEXT_IS_A_VALUE, { reason: "an AGENTS.md can be empty" }),
  agent_id: agentOfTool,
  expected_hash: expectedHash,
  revert_to: z
    .int()
    .min(0)
    .optional()
    .meta({ description: "A revision to restore, instead of content; 0: empty, as before the first one" }),
}) satisfies z.ZodType<SetInstructions>;

const version = z.object({ content: z.string(), content_hash: z.string() });

export const changedInstructions = z.object({
  agent_id: z.string(),
  before: version,
  after: version,
  revision: z.number(),
  previous_revision: z.number(),
  truncated: z.boolean(),
  diff: z.string().nullable(),
}) satisfies z.ZodType<ChangedInstructions>;

export const instructionsRequest = z.strictObject({ id });

export const replaceInstructionsRequest = z
  .strictObject({ id, content, expected_hash: expectedHash })
  .meta({ id: "ReplaceInstructionsRequest" });

export const revertInstructionsRequest = z
  .strictObject({
    id,
    number: z.int().min(0).meta({
      description: "The number of the revision to restore; 0 for the empty instructions before the first one",
    }),
    expected_hash: expectedHash,
  })
  .meta({ id: "RevertInstructionsRequest" });

const revision = {
  number: z.int(),
  content_hash: z.string(),
  size_bytes: z.int(),
  reverted_to: z.int().nullable().meta({ description: "The revision whose content this one restored" }),
  created_at: timestamp,
  user_id: z.string().nullable(),
  credential_kind: z.string(),
  credential_id: z.string(),
};

export const listRevisionsRequest = z.strictObject({
  id,
  limit: z.int().min(1).max(100).optional().meta({ description: "Maximum number; 20 by default" }),
  cursor: z.string().max(200).optional().meta({ description: "`next_cursor` of the previous page" }),
});

export const revisionPage = z
  .object({ revisions: z.array(z.object(revision)), next_cursor: z.string().nullable() })
  .meta({ id: "ListRevisionsResponse" }) satisfies z.ZodType<RevisionPage>;

export const getRevisionRequest = z.strictObject({ id, number: revisionNumber });

export const revisionWithContent = z
  .object({ ...revision, content: z.string() })
  .meta({ id: "InstructionRevision" }) satisfies z.ZodType<RevisionView & { content: string }>;
