import { existsSync } from "node:fs";
import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** The files that take longest. Those that share builds are apart, so that a build is finished when the next file needs it. */
const LONGEST = [
  "e2e/examples",
  "e2e/deployment-crash",
  "cli/login",
  "mcp/procedures",
  "contract/bundler",
  "contract/git-source",
  "e2e/second-process",
  "e2e/consent",
  "e2e/dashboard-pages",
  "worker/redeploy",
  "drivers/bundler/install-packages",
  "platforms/embedded/supervisor",
  "startup/service-bundle",
  "rest/openclaw-servers",
  "cli/agent-sync",
  "identity/rate-limits",
  "cli/commands",
  "mcp/call-snippets",
  "e2e/dashboard",
  "domain/deployments/interrupted-updates",
  "database/database-lock",
  "contract/counter",
  "worker/deployment-pipeline",
  "mcp/openclaw-failures",
  "startup/admin",
  "contract/edge-platform.embedded",
  "worker/variables",
  "worker/deployed-repositories",
  "drivers/procedure-discovery/mcp-tools",
  "drivers/procedure-discovery/examples",
  "drivers/document-reader/refused-files",
  "contract/sandbox",
  "drivers/git-source/sandboxed-git",
  "drivers/procedure-discovery/hostile-apps",
  "drivers/bundler/build-step",
  "sandbox/control-groups",
  "cli/sessions",
  "mcp/search-by-meaning",
  "identity/sign-up",
  "cli/mcp-failures",
].map((name) => path.join(ROOT, "test", `${name}.test.ts`));

/**
 * Runs the longest files first, so that short ones fill the workers at the end. A worker of one project cannot run files of
 * another, and a new one has to load the service again. So the longest files of the small project `services` start first, and
 * its workers run the rest of it while the other workers are busy with the longest files of the large project.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = LONGEST.find((file) => !existsSync(file));
    if (missing !== undefined)
      throw new Error(`${missing} does not exist. Correct the list in ${import.meta.filename}.`);
    // oxlint-disable-next-line unicorn/no-array-sort -- this is not the method of an array
    const sorted = (await super.sort(files)).toSorted((a, b) => lengthRank(a) - lengthRank(b));
    const small = sorted.filter(isOnServices);
    const large = sorted.filter((file) => !isOnServices(file));
    const otherWorkers = MAX_WORKERS - SERVICES_WORKERS;
    return [
      ...small.slice(0, SERVICES_WORKERS),
      ...large.slice(0, otherWorkers),
      ...small.slice(SERVICES_WORKERS),
      ...large.slice(otherWorkers),
    ];
  }
}

/** How many test files run at once. Four more than the cores that most machines have at least: many tests wait. */
export const MAX_WORKERS = 6;
const SERVICES_WORKERS = 2;

function isOnServices({ project }: TestSpecification): boolean {
  return project.name === "services";
}

function lengthRank({ moduleId }: TestSpecification): number {
  const rank = LONGEST.indexOf(moduleId);
  return rank === -1 ? LONGEST.length : rank;
}
