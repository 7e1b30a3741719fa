import { z } from "zod";
import type { MemoryPage } from "../domain/memory/list-memories.ts";
import { MEMORY_KINDS, MEMORY_LIMITS } from "../domain/memory/memory-rules.ts";
import type { MemoryView } from "../domain/memory/memory-view.ts";
import type { Recall } from "../domain/memory/recall-memories.ts";
import { WRITE_STATUSES, type WrittenMemory } from "../domain/memory/write-memory.ts";
import { timestamp } from "./core/common.schema.ts";

const EXAMPLE_ID = "5b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e";

const id = z.uuid().meta({ description: "The agent's id", examples: [EXAMPLE_ID] });
const memoryId = z.uuid().meta({ description: "The memory's id", examples: [EXAMPLE_ID] });
const kind = z.enum(MEMORY_KINDS);
const kindFilter = kind.optional().meta({ description: "Only memories of this kind" });
const content = z
  .string()
  .meta({ description: `One statement, at most ${MEMORY_LIMITS.contentCharacters} characters` });
const replaces = z.uuid().meta({ description: "The memory_id of a memory that is no longer correct" });
const agentOfTool = z.uuid().optional().meta({ description: "Default: your own agent, or the main agent" });
const cursor = z.string().max(200).optional().meta({ description: "`next_cursor` of the previous page" });

const memory = {
  memory_id: z.string(),
  kind,
  content: z.string(),
  instruction_like: z
    .boolean()
    .meta({ description: "Whether the content has the form of an instruction to a language model" }),
  created_at: timestamp,
  updated_at: timestamp.meta({
    description: "When the current content was stored: RFC 3339 in UTC, with milliseconds",
  }),
  user_id: z.string().nullable(),
  credential_kind: z.string(),
  credential_id: z.string(),
};

export const memoryResponse = z.object(memory).meta({ id: "Memory" }) satisfies z.ZodType<MemoryView>;

export const listMemoriesRequest = z.strictObject({
  id,
  kind: kindFilter,
  limit: z.int().min(1).max(100).optional().meta({ description: "Maximum number; 50 by default" }),
  cursor,
});

export const exportMemoriesRequest = z.strictObject({ id, cursor });

export const memoryPage = z
  .object({ memories: z.array(z.object(memory)), next_cursor: z.string().nullable() })
  .meta({ id: "ListMemoriesResponse" }) satisfies z.ZodType<MemoryPage>;

export const searchMemoriesRequest = z.strictObject({
  id,
  q: z.string().meta({ description: "Words, or a question" }),
  kind: kindFilter,
  limit: z.int().min(1).max(50).optional().meta({ description: "Maximum number; 20 by default" }),
});

export const foundMemories = z
  .object({ memories: z.array(z.object({ ...memory, score: z.number() })) })
  .meta({ id: "SearchMemoriesResponse" });

export const memoryRequest = z.strictObject({ id, memory_id: memoryId });

export const agentMemoriesRequest = z.strictObject({ id });

export const storeMemoryRequest = z
  .strictObject({ id, content, kind, replaces: replaces.optional() })
  .meta({ id: "StoreMemoryRequest" });

export const correctMemoryRequest = z
  .strictObject({ id, memory_id: memoryId, content: content.optional(), kind: kind.optional() })
  .meta({ id: "CorrectMemoryRequest" });

export const writtenMemory = z.object({
  memory_id: z.string(),
  status: z.enum(WRITE_STATUSES),
}) satisfies z.ZodType<WrittenMemory>;

export const writeMemoryToolRequest = z.strictObject({
  content,
  kind,
  replaces: replaces.optional(),
  agent_id: agentOfTool,
});

export const recallMemoriesToolRequest = z.strictObject({
  query: z.string().meta({ description: "What you want to know" }),
  limit: z.int().min(1).max(50).default(8).meta({ description: "Maximum number" }),
  kind: kindFilter,
  agent_id: agentOfTool,
});

export const recalledMemories = z.object({
  memories: z.array(
    z.object({
      memory_id: z.string(),
      content: z.string(),
      kind,
      created_at: z.string(),
      updated_at: z.string(),
      instruction_like: z.literal(true).optional(),
      score: z.number(),
    }),
  ),
  cut: z.string().nullable(),
}) satisfies z.ZodType<Recall>;
