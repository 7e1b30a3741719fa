/**
 * Changes sources in one place at a time and prints the changes that no given test notices. It stores no result.
 *
 * Usage: npm run test:mutation -- SOURCES TESTS [--loaded-late=MODULE]
 *
 *   npm run test:mutation -- 'domain/tokens/*.ts' 'test/domain/tokens/*.test.ts,test/rest/tokens.test.ts'
 *
 * Both are glob patterns, separated by commas. A change is active in the process of a test only, so a test that starts another
 * process notices none. `--loaded-late` names a module that the service loads only when it starts.
 */
import { glob } from "node:fs/promises";
import path from "node:path";
import { Stryker } from "@stryker-mutator/core";

const ROOT = path.resolve(import.meta.dirname, "../..");
const CACHE = ".cache/mutation";
/**
 * Added to one and a half times what the tests of a mutant need. A mutant that exceeds it counts as detected. It includes the
 * time in which a new process loads the service.
 */
const TIMEOUT_MS = 60_000;
/** The time limit of one test. */
const TEST_TIMEOUT_MS = 30_000;
const LOADED_LATE = "--loaded-late=";

const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const [sources, tests] = await Promise.all(names.map((patterns) => findFiles(patterns.split(","))));
if (sources === undefined || tests === undefined || sources.length === 0 || tests.length === 0)
  throw new Error("Name sources and tests, such as: 'domain/tokens/*.ts' 'test/domain/tokens/*.test.ts'.");

const loadedLate = process.argv.find((argument) => argument.startsWith(LOADED_LATE))?.slice(LOADED_LATE.length);
process.env["MUTATION_TESTS"] = JSON.stringify(tests);
process.env["MUTATION_LOADED_LATE"] = loadedLate ?? "";
process.env["MUTATION_TEST_TIMEOUT"] = String(TEST_TIMEOUT_MS);
await new Stryker({
  mutate: sources,
  testRunner: "vitest",
  coverageAnalysis: "perTest",
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false, pool: "forks" },
  plugins: ["@stryker-mutator/vitest-runner", path.join(import.meta.dirname, "ignore-messages.ts")],
  ignorers: ["messages"],
  concurrency: 2,
  tempDirName: `${CACHE}/sandbox`,
  cleanTempDir: "always",
  ignorePatterns: [".cache", ".data", "dist"],
  disableTypeChecks: true,
  // Stryker would rewrite its paths with the JavaScript API of the compiler, which TypeScript 7 does not have.
  tsconfigFile: "none",
  timeoutMS: TIMEOUT_MS,
  dryRunTimeoutMinutes: 20,
  reporters: ["clear-text", "progress-append-only"],
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  allowConsoleColors: false,
  warnings: { slow: false, unknownOptions: true, preprocessorErrors: true, unserializableOptions: true },
}).runMutationTest();

async function findFiles(patterns: string[]): Promise<string[]> {
  const files = await Array.fromAsync(glob(patterns, { cwd: ROOT }));
  return [...new Set(files)].filter((file) => !file.endsWith(".entity.ts")).toSorted();
}
