import { z } from "zod";
import type { ClearedWorkspace } from "../domain/agent-workspaces/clear-workspace.ts";
import type { WorkspacePage } from "../domain/agent-workspaces/list-workspace-files.ts";
import { CONTENT_ENCODINGS, type WorkspaceFilePart } from "../domain/agent-workspaces/read-workspace-file.ts";
import { WORKSPACE_LIMITS } from "../domain/ports/agent-workspaces.ts";
import { timestamp } from "./core/common.schema.ts";
import { EMPTY_TEXT_IS_A_VALUE } from "./core/omit-absent.ts";

/** How much of a file one response contains, in bytes. */
const MAX_PART_BYTES = 1024 * 1024;

/** Base64url has four characters for three bytes. */
const MAX_CURSOR_CHARACTERS = Math.ceil((WORKSPACE_LIMITS.pathBytes * 4) / 3);

const id = z.uuid().meta({ description: "The agent's id", examples: ["5b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"] });
const path = z
  .string()
  .min(1)
  .max(WORKSPACE_LIMITS.pathBytes)
  .refine((value) => !value.startsWith("/"), "must be relative to /workspace, such as notes/today.md")
  .meta({ description: "Relative to `/workspace`", examples: ["notes/today.md"] });

export const listWorkspaceFilesRequest = z.strictObject({
  id,
  limit: z.int().min(1).max(1000).default(100).meta({ description: "Maximum number of files" }),
  cursor: z.string().max(MAX_CURSOR_CHARACTERS).optional().meta({ description: "`next_cursor` of the previous page" }),
});

const file = {
  path: z.string(),
  size_bytes: z.int(),
  modified_at: timestamp,
};

export const workspacePage = z
  .object({
    agent_id: z.string(),
    file_count: z.int().meta({ description: "Of the whole workspace, like the next two" }),
    folder_count: z.int(),
    size_bytes: z.int(),
    files: z.array(z.object(file)),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: "ListWorkspaceFilesResponse" }) satisfies z.ZodType<WorkspacePage>;

export const readWorkspaceFileRequest = z.strictObject({
  id,
  path,
  offset: z
    .int()
    .min(0)
    .max(WORKSPACE_LIMITS.bytes)
    .default(0)
    .meta({ description: "Where to start in the file, in bytes" }),
  length: z
    .int()
    .min(1)
    .max(MAX_PART_BYTES)
    .default(256 * 1024)
    .meta({ description: "Maximum number of bytes" }),
});

export const workspaceFilePart = z
  .object({
    agent_id: z.string(),
    ...file,
    offset: z.int(),
    encoding: z.enum(CONTENT_ENCODINGS).meta({ description: "Of the content: base64 if it is not UTF-8" }),
    content: z.string(),
    next_offset: z.int().nullable().meta({ description: "Where the rest starts; `null` at the end of the file" }),
  })
  .meta({ id: "WorkspaceFile" }) satisfies z.ZodType<WorkspaceFilePart>;

export const clearWorkspaceRequest = z.strictObject({
  id,
  path: path
    .optional()
    .meta({ description: "A file or a folder, relative to `/workspace`. By default everything" })
    .register(EMPTY_TEXT_IS_A_VALUE, { reason: "a program with an empty variable would delete all files" }),
});

export const clearedWorkspace = z
  .object({ agent_id: z.string(), removed_files: z.int() })
  .meta({ id: "ClearWorkspaceResponse" }) satisfies z.ZodType<ClearedWorkspace>;
