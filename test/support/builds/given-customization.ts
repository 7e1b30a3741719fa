import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { Dependency } from "../../../domain/ports/bundler.ts";
import type { Customization, TokenUsage, TrialResult } from "../../../domain/ports/app-builder-agent.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export const PASSED: TrialResult = { passed: true, report: "The app builds and starts." };

export interface GivenCustomization {
  customization: Customization;
  /** A folder that contains only the one of the project. */
  folder: string;
  sourceDirectory: string;
  /** What the agent did, as it stands in the log. */
  lines: string[];
  usage: TokenUsage[];
  added: Dependency[];
  read(file: string): Promise<string>;
}

/**
 * Creates a small project to customize.
 *
 * @param index - the content of `src/index.ts`
 * @param trials - the results of trials; the last one is repeated
 */
export async function givenCustomization(
  index: string,
  { trials = [PASSED], ...settings }: { trials?: TrialResult[] } & Partial<Customization>,
): Promise<GivenCustomization> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const sourceDirectory = path.join(folder.path, "source");
  await mkdir(path.join(sourceDirectory, "src"), { recursive: true });
  await writeFile(path.join(sourceDirectory, "package.json"), '{"name": "demo", "dependencies": {"hono": "4.0.0"}}');
  await writeFile(path.join(sourceDirectory, "src/index.ts"), index);
  const lines: string[] = [];
  const usage: TokenUsage[] = [];
  const added: Dependency[] = [];
  let tries = 0;
  const customization: Customization = {
    sourceDirectory,
    instructions: ["say Hello Ada"],
    conflicts: [],
    runtime: null,
    maxTokens: 1_000_000,
    tryOut: () => Promise.resolve(trials[Math.min(tries++, trials.length - 1)]!),
    runScript: () => Promise.resolve(PASSED),
    addDependency: async (dependency) => {
      added.push(dependency);
      return PASSED;
    },
    say: (line) => void lines.push(line),
    onUsage: async (used) => void usage.push(used),
    signal: new AbortController().signal,
    ...settings,
  };
  const read = (file: string) => readFile(path.join(sourceDirectory, file), "utf8");
  return { customization, folder: folder.path, sourceDirectory, lines, usage, added, read };
}
