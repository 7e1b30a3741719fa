import { existsSync } from "node:fs";
import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** The files that take longest. Those that share builds are apart, so that a build is finished when the next file needs it. */
const LONGEST = [
  "e2e/examples",
  "e2e/deployment-crash",
  "mcp/procedures",
  "contract/bundler",
  "contract/git-source",
  "e2e/second-process",
  "e2e/consent",
  "e2e/dashboard-pages",
  "drivers/bundler/install-packages",
  "platforms/embedded/supervisor",
  "contract/edge-platform.embedded",
  "drivers/procedure-discovery/mcp-tools",
  "drivers/procedure-discovery/examples",
  "contract/counter",
  "database/embedded-postgres",
  "worker/deployment-pipeline",
  "contract/sandbox",
  "drivers/git-source/sandboxed-git",
  "drivers/procedure-discovery/hostile-apps",
  "drivers/bundler/build-step",
  "startup/admin",
  "identity/rate-limits",
  "identity/sign-up",
].map((name) => path.join(ROOT, "test", `${name}.test.ts`));

/**
 * Runs the longest files first, so that short ones fill the workers at the end. All files of one project follow each other,
 * because a worker of one project cannot run files of another; the small project `services` is first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = LONGEST.find((file) => !existsSync(file));
    if (missing !== undefined)
      throw new Error(`${missing} does not exist. Correct the list in ${import.meta.filename}.`);
    // oxlint-disable-next-line unicorn/no-array-sort -- this is not the method of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => projectRank(a) - projectRank(b) || lengthRank(a) - lengthRank(b));
  }
}

function projectRank({ project }: TestSpecification): number {
  return project.name === "services" ? 0 : 1;
}

function lengthRank({ moduleId }: TestSpecification): number {
  const rank = LONGEST.indexOf(moduleId);
  return rank === -1 ? LONGEST.length : rank;
}
