/**
 * Runs a suite of tests on the embedded PostgreSQL, and some again on a PostgreSQL and a Redis outside the service.
 *
 * Usage: npm test [-- <vitest filters and options>]      a test of each guarantee; a filter selects from all tests
 *        npm run test:builds [-- <vitest options>]       the tests of builds
 *        npm run test:slow [-- <vitest options>]         long drills and further cases
 *
 * If PostgreSQL or Redis does not respond, the second part is skipped with a warning; with CI=true that is a failure. The last
 * line is `N passed, N failed`, for both parts together. The exit code is 0 only if tests ran and none failed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { selectSuite } from "./test-suites.ts";
import { countTests, formatCounts, type TestCounts, type TestReport } from "./count-test-results.ts";
import { findUnavailableServices } from "./test-services.ts";

const root = path.dirname(import.meta.dirname);

async function main(): Promise<void> {
  const unavailable = await findUnavailableServices();
  const projects = unavailable.length === 0 ? ["embedded", "services"] : ["embedded"];
  const options = process.argv.slice(2);
  const suite = options[0] === "--builds" ? "builds" : options[0] === "--slow" ? "slow" : "others";
  const selected = selectSuite(suite, suite === "others" ? options : options.slice(1));
  const { exitCode, count } = await runVitest(projects, selected);

  const isIncomplete = unavailable.length > 0;
  if (isIncomplete) console.error(`\nNOT TESTED on Postgres and Redis: no connection to ${unavailable.join(" and ")}.`);
  console.log(`\n${formatCounts(count)}`);
  const isGood = exitCode === 0 && count.failed === 0 && count.passed > 0;
  process.exitCode = isGood && !(isIncomplete && isContinuousIntegration()) ? 0 : 1;
}

/** Runs vitest once. A run that ends with an error but without a failed test counts as one failed test. */
async function runVitest(projects: string[], options: string[]): Promise<{ exitCode: number; count: TestCounts }> {
  const directory = await mkdtemp(path.join(tmpdir(), "test-report-"));
  const report = path.join(directory, "report.json");
  try {
    const child = spawn(
      process.execPath,
      [
        path.join(root, "node_modules/vitest/vitest.mjs"),
        "run",
        ...projects.flatMap((project) => ["--project", project]),
        "--reporter=default",
        "--reporter=json",
        `--reporter=${path.join(root, "scripts/failure-reporter.ts")}`,
        `--outputFile.json=${report}`,
        ...options,
      ],
      { cwd: root, stdio: ["ignore", "inherit", "inherit"] },
    );
    const [code] = (await once(child, "close")) as [number | null];
    const exitCode = code ?? 1;
    const count = await readCounts(report);
    if (exitCode !== 0 && count.failed === 0 && count.passed > 0) count.failed = 1;
    return { exitCode, count };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function readCounts(report: string): Promise<TestCounts> {
  const text = await readFile(report, "utf8").catch(() => null);
  return text === null ? { passed: 0, failed: 1, skipped: 0 } : countTests(JSON.parse(text) as TestReport);
}

function isContinuousIntegration(): boolean {
  return !["", "0", "false"].includes(process.env["CI"] ?? "");
}

await main();
