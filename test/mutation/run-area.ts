import { glob, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { MutantResult, PartialStrykerOptions } from "@stryker-mutator/api/core";
import { Stryker } from "@stryker-mutator/core";
import {
  type AreaResults,
  type FileResult,
  hashFiles,
  readResults,
  ROOT,
  slugOf,
  type Survivor,
  writeResults,
} from "./area-results.ts";
import type { MutationArea } from "./mutation-area.ts";

const CACHE = ".cache/mutation";
/**
 * Added to one and a half times what the tests of a mutant need. A mutant that exceeds it counts as detected. It includes the
 * time in which a new process loads the service: on a busy machine that is much longer than a test.
 */
const TIMEOUT_MS = 60_000;
/** The time limit of one test. */
const TEST_TIMEOUT_MS = 30_000;
/** Files per run of Stryker, whose results are stored together. Each run starts with all tests of the area once. */
const GROUP_SIZE = 2;
/** Of the code that the page shows. */
const MAX_CODE_LENGTH = 160;

export interface RunOptions {
  /** Test processes at the same time. */
  concurrency: number;
  /** Runs all mutants again, also those of unchanged files. */
  force: boolean;
  /** Selects sources; empty for all of the area. */
  filters: string[];
}

/**
 * Mutates the sources of an area that have changed, or whose tests have. Stores the results of every few files, so an
 * interrupted run can be continued.
 */
export async function runArea(area: MutationArea, options: RunOptions): Promise<void> {
  const previous = await readResults(area);
  const [sources, tests] = await Promise.all([sourcesOf(area), testsOf(area)]);
  const testsHash = await hashFiles(tests);
  const results: AreaResults = {};
  const outdated: string[] = [];
  for (const source of sources) {
    const stored = previous[source];
    const isCurrent = stored?.tests === testsHash && stored.source === (await hashFiles([source]));
    const isSelected = options.filters.length === 0 || options.filters.some((filter) => source.includes(filter));
    if (stored !== undefined) results[source] = stored;
    if (isSelected && (options.force || !isCurrent)) outdated.push(source);
  }
  process.stdout.write(`${area.name}: ${outdated.length} of ${sources.length} files, ${tests.length} test files\n`);
  process.env["MUTATION_TESTS"] = JSON.stringify(tests);
  process.env["MUTATION_LOADED_LATE"] = area.loadedLate ?? "";
  process.env["MUTATION_TEST_TIMEOUT"] = String(area.testTimeoutMs ?? TEST_TIMEOUT_MS);
  await forgetSurvivors(area);
  while (outdated.length > 0) {
    const group = outdated.splice(0, GROUP_SIZE);
    const mutants = await new Stryker(strykerOptions(area, group, options)).runMutationTest();
    for (const source of group) results[source] = await summarize(source, testsHash, mutants);
    await writeResults(area, results);
  }
}

/**
 * Removes the survivors from the results that Stryker reuses. Stryker does not know which tests run a mutant of a module's
 * constants, so it would reuse such a survivor even after a test was added.
 */
async function forgetSurvivors(area: MutationArea): Promise<void> {
  const text = await readFile(path.join(ROOT, incrementalFile(area)), "utf8").catch(() => null);
  if (text === null) return;
  const report = JSON.parse(text) as { files: Record<string, { mutants: MutantResult[] }> };
  for (const file of Object.values(report.files))
    file.mutants = file.mutants.filter(({ status }) => status === "Killed" || status === "Timeout");
  await writeFile(path.join(ROOT, incrementalFile(area)), JSON.stringify(report));
}

function incrementalFile(area: MutationArea): string {
  return `${CACHE}/${slugOf(area)}.json`;
}

/** The sources of an area, by their paths from the root. */
export async function sourcesOf({ sources, except = [] }: MutationArea): Promise<string[]> {
  const excluded = new Set(await findFiles(except));
  return (await findFiles(sources)).filter((file) => !excluded.has(file));
}

/** The test files of an area. */
export function testsOf({ tests }: MutationArea): Promise<string[]> {
  return findFiles(tests);
}

async function findFiles(patterns: string[]): Promise<string[]> {
  const files = await Array.fromAsync(glob(patterns, { cwd: ROOT }));
  return [...new Set(files)].toSorted();
}

function strykerOptions(area: MutationArea, mutate: string[], options: RunOptions): PartialStrykerOptions {
  return {
    mutate,
    testRunner: "vitest",
    coverageAnalysis: "perTest",
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false, pool: "forks" },
    plugins: ["@stryker-mutator/vitest-runner", path.join(import.meta.dirname, "ignore-messages.ts")],
    ignorers: ["messages"],
    concurrency: options.concurrency,
    force: options.force,
    incremental: true,
    incrementalFile: incrementalFile(area),
    tempDirName: `${CACHE}/sandbox`,
    cleanTempDir: "always",
    ignorePatterns: [".cache", ".data", "dist"],
    disableTypeChecks: true,
    // Stryker would rewrite its paths with the JavaScript API of the compiler, which TypeScript 7 does not have.
    tsconfigFile: "none",
    timeoutMS: TIMEOUT_MS,
    dryRunTimeoutMinutes: 20,
    reporters: ["clear-text", "progress-append-only"],
    clearTextReporter: { logTests: false, reportTests: false, reportMutants: false, allowColor: false },
    allowConsoleColors: false,
    warnings: { slow: false, unknownOptions: true, preprocessorErrors: true, unserializableOptions: true },
  };
}

async function summarize(source: string, tests: string, mutants: MutantResult[]): Promise<FileResult> {
  const text = await readFile(path.join(ROOT, source), "utf8");
  const own = mutants.filter(({ fileName }) => path.resolve(fileName) === path.join(ROOT, source));
  const count = (...statuses: MutantResult["status"][]) => own.filter(({ status }) => statuses.includes(status)).length;
  const survivors = own.filter(({ status }) => status === "Survived" || status === "NoCoverage");
  return {
    source: await hashFiles([source]),
    tests,
    detected: count("Killed", "Timeout"),
    timedOut: own.filter(hasTimedOut).length,
    ignored: count("Ignored"),
    survivors: survivors.map((mutant) => describe(mutant, text.split("\n"))),
  };
}

function hasTimedOut({ status, statusReason = "" }: MutantResult): boolean {
  return status === "Timeout" || (status === "Killed" && /timed out in \d+ms/.test(statusReason));
}

function describe({ location, mutatorName, replacement, status }: MutantResult, lines: string[]): Survivor {
  const { start, end } = location;
  const code = lines.slice(start.line - 1, end.line);
  const last = code.length - 1;
  code[last] = code[last]!.slice(0, end.column - 1);
  code[0] = code[0]!.slice(start.column - 1);
  return {
    line: start.line,
    mutator: mutatorName,
    original: shorten(code.join(" ")),
    replacement: shorten(replacement),
    covered: status === "Survived",
  };
}

function shorten(code: string): string {
  const text = code.replace(/\s+/g, " ").trim();
  return text.length > MAX_CODE_LENGTH ? `${text.slice(0, MAX_CODE_LENGTH)}…` : text;
}
