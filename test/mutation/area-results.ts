import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { MutationArea } from "./mutation-area.ts";

export const ROOT = path.resolve(import.meta.dirname, "../..");

/** A mutant that no test of its area noticed. */
export interface Survivor {
  line: number;
  mutator: string;
  original: string;
  replacement: string;
  /** Whether a test ran the code. */
  covered: boolean;
}

export interface FileResult {
  /** Hashes of the source and of the area's tests at the time of the run: while both are unchanged, so is the result. */
  source: string;
  tests: string;
  detected: number;
  /** Those of the detected mutants that exceeded a time limit, of a test or of the run. Unknown for results of earlier runs. */
  timedOut?: number;
  /** Log lines and error messages. */
  ignored: number;
  survivors: Survivor[];
}

/** By the path of the source. */
export type AreaResults = Record<string, FileResult>;

/** Reads `docs/mutation/<area>.json` without files that do not exist any more; empty while the area has not been measured. */
export async function readResults(area: MutationArea): Promise<AreaResults> {
  const text = await readFile(fileOf(area), "utf8").catch(() => "{}");
  const results = Object.entries(JSON.parse(text) as AreaResults);
  return Object.fromEntries(results.filter(([file]) => existsSync(path.join(ROOT, file))));
}

export async function writeResults(area: MutationArea, results: AreaResults): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(results).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  await mkdir(path.dirname(fileOf(area)), { recursive: true });
  await writeFile(fileOf(area), `${JSON.stringify(sorted, null, 1)}\n`);
}

/** A short hash of the content of files. */
export async function hashFiles(files: string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of files.toSorted()) hash.update(file).update(await readFile(path.join(ROOT, file)));
  return hash.digest("hex").slice(0, 12);
}

/** The name of an area in file names. */
export function slugOf({ name }: MutationArea): string {
  return name.replace(/[^a-z]+/g, "-");
}

function fileOf(area: MutationArea): string {
  return path.join(ROOT, "docs/mutation", `${slugOf(area)}.json`);
}
