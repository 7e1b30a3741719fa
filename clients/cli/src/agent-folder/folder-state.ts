import { readFile } from "node:fs/promises";
import path from "node:path";
import { CliError } from "../cli-error.ts";
import { replaceFile } from "../replace-file.ts";

/** What the folder and the service had in common when a part was last pulled or pushed. */
export interface SyncedPart {
  /** The hash that the service had for the part. */
  version: string;
  /** The hash of the files in the folder. */
  local: string;
}

/** The state of a folder: which agent it belongs to, and its parts. It contains no secrets and no contents. */
export interface FolderState {
  service: string;
  agent_id: string;
  parts: Record<string, SyncedPart>;
}

const FILE = ".svc-agent.json";

/** @returns `null` for a folder that was never pulled or pushed. @throws {CliError} for a file that is not a state */
export async function readState(folder: string): Promise<FolderState | null> {
  const file = path.join(folder, FILE);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw new CliError(`Cannot read ${file}: ${error.code ?? error.message}.`, 1, { cause: error });
  });
  if (text === null) return null;
  const state = parse(text);
  if (state === null)
    throw new CliError(`${file} is not valid. Remove it: the next command compares the contents themselves.`);
  return state;
}

export async function writeState(folder: string, state: FolderState): Promise<void> {
  const parts = Object.fromEntries(Object.entries(state.parts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  await replaceFile(path.join(folder, FILE), `${JSON.stringify({ ...state, parts }, null, 2)}\n`);
}

function parse(text: string): FolderState | null {
  try {
    const state = JSON.parse(text) as Partial<FolderState> | null;
    const { service, agent_id: agentId, parts } = state ?? {};
    const isValid = typeof service === "string" && typeof agentId === "string" && isParts(parts);
    return isValid ? { service, agent_id: agentId, parts } : null;
  } catch {
    return null;
  }
}

function isParts(value: unknown): value is Record<string, SyncedPart> {
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value as Record<string, Partial<SyncedPart> | null>).every(
    (part) => typeof part?.version === "string" && typeof part.local === "string",
  );
}
