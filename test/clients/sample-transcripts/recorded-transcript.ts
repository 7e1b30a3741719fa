import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { EntryUsage } from "../../../domain/sessions/transcript-entry.ts";
import type { ScriptedResponse, ScriptServer } from "./script-server.ts";

/** A transcript that a program has written. */
export interface RecordedTranscript {
  name: string;
  text: string;
  /** Whether the file is one JSON document, and not a JSON text in each line. */
  isDocument?: boolean;
  /** The tokens of the responses that the transcript is about, as the scripted model said them. */
  tokens: EntryUsage;
}

export function usage(input: number, output: number, cacheRead = 0, cacheWrite = 0): EntryUsage {
  return { input, output, cache_read: cacheRead, cache_write: cacheWrite };
}

/** Returns the sum of the usages of responses. */
export function sumUsage(responses: readonly ScriptedResponse[]): EntryUsage {
  const total = usage(0, 0);
  for (const response of responses)
    if ("usage" in response)
      for (const key of Object.keys(total) as (keyof EntryUsage)[]) total[key] += response.usage[key];
  return total;
}

/** Fails if the program did not request the whole script. */
export function checkScriptEnded(model: ScriptServer): void {
  const remaining = model.remaining();
  if (remaining > 0) throw new Error(`the program did not request ${remaining} responses of the script`);
}

/** Reads the JSONL files below a folder. */
export async function findTranscripts(folder: string): Promise<{ file: string; text: string }[]> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => name.endsWith(".jsonl")).toSorted();
  return Promise.all(
    files.map(async (name) => ({ file: name, text: await readFile(path.join(folder, name), "utf8") })),
  );
}
