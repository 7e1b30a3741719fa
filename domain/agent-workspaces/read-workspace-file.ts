import { isUtf8 } from "node:buffer";
import { findAgent } from "../agents/find-agent.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { type AgentWorkspaceDeps, toFileView, type WorkspaceFileView } from "./list-workspace-files.ts";

/** How the content of a file is represented: as text, or in base64 if it is not UTF-8. */
export const CONTENT_ENCODINGS = ["utf-8", "base64"] as const;

export interface WorkspaceFilePart extends WorkspaceFileView {
  agent_id: string;
  /** Where the content starts in the file, in bytes. */
  offset: number;
  encoding: (typeof CONTENT_ENCODINGS)[number];
  content: string;
  /** Where the rest of the file starts; `null` at its end. */
  next_offset: number | null;
}

/** A character of UTF-8 has at most this many bytes after its first one. */
const MAX_CONTINUATION_BYTES = 3;

/**
 * Reads a part of a file in the workspace of an agent. A part of a text ends with a whole character, so it can be shorter.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent, or the workspace no such file
 */
export async function readWorkspaceFile(
  { db, agentWorkspaces }: AgentWorkspaceDeps,
  caller: Caller,
  { id, path, offset, length }: { id: string; path: string; offset: number; length: number },
): Promise<WorkspaceFilePart> {
  const agent = await findAgent(db, caller, id);
  const workspace = { orgId: caller.orgId, agentId: agent.id };
  const part = await agentWorkspaces.readFile(workspace, path, { offset, length });
  if (part === null) throw fileNotFound();
  const isEnd = offset + part.bytes.length >= part.file.size;
  const text = wholeCharacters(part.bytes, isEnd);
  const bytes = text ?? part.bytes;
  const next = offset + bytes.length;
  return {
    agent_id: agent.id,
    ...toFileView(part.file),
    offset,
    encoding: text === null ? "base64" : "utf-8",
    content: Buffer.from(bytes).toString(text === null ? "base64" : "utf8"),
    next_offset: next < part.file.size ? next : null,
  };
}

export function fileNotFound(): ServiceError {
  return new ServiceError("not_found", "File not found. GET /v1/agents/{id}/workspace lists the files.");
}

/**
 * Returns the bytes without an incomplete character at their end, unless it is the end of the file; `null` if they are not
 * UTF-8, or contain no whole character.
 */
function wholeCharacters(bytes: Uint8Array, isEnd: boolean): Uint8Array | null {
  if (isUtf8(bytes)) return bytes;
  if (isEnd) return null;
  const cuts = Array.from({ length: MAX_CONTINUATION_BYTES }, (_, cut) => bytes.subarray(0, -(cut + 1)));
  return cuts.find((each) => each.length > 0 && isUtf8(each)) ?? null;
}
