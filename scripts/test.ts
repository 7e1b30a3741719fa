/**
 * Runs the whole suite on the embedded defaults, and what uses a database again on Postgres and Redis.
 *
 * Usage: npm test [-- <vitest filters and options>]
 *
 * Where Postgres or Redis does not answer, one line says so; with CI=true that is a failure. The last line is
 * `N passed, N failed`, counted over both runs. The exit code is 0 only if something ran and nothing failed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { closingLine, type Tally, tally, type TestReport } from "./count-test-results.ts";
import { unansweredServices } from "./test-services.ts";

const root = path.dirname(import.meta.dirname);

async function main(): Promise<void> {
  const unanswered = await unansweredServices();
  const projects = unanswered.length === 0 ? ["embedded", "services"] : ["embedded"];
  const { exitCode, count } = await runVitest(projects, process.argv.slice(2));

  const isIncomplete = unanswered.length > 0;
  if (isIncomplete) console.error(`\nNOT TESTED on Postgres and Redis: no connection to ${unanswered.join(" and ")}.`);
  console.log(`\n${closingLine(count)}`);
  const isGood = exitCode === 0 && count.failed === 0 && count.passed > 0;
  process.exitCode = isGood && !(isIncomplete && isContinuousIntegration()) ? 0 : 1;
}

/** Runs vitest once. A run that breaks, or that ends badly with no failed test, counts as one failed test. */
async function runVitest(projects: string[], options: string[]): Promise<{ exitCode: number; count: Tally }> {
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
        `--outputFile.json=${report}`,
        ...options,
      ],
      { cwd: root, stdio: ["ignore", "inherit", "inherit"] },
    );
    const [code] = (await once(child, "close")) as [number | null];
    const exitCode = code ?? 1;
    const count = await countsOf(report);
    if (exitCode !== 0 && count.failed === 0 && count.passed > 0) count.failed = 1;
    return { exitCode, count };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function countsOf(report: string): Promise<Tally> {
  const text = await readFile(report, "utf8").catch(() => null);
  return text === null ? { passed: 0, failed: 1, skipped: 0 } : tally(JSON.parse(text) as TestReport);
}

function isContinuousIntegration(): boolean {
  return !["", "0", "false"].includes(process.env["CI"] ?? "");
}

await main();
