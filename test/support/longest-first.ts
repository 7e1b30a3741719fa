import { existsSync } from "node:fs";
import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** The files that take longest. Those that share builds are apart, so that a build is finished when the next file needs it. */
const LONGEST = [
  "e2e/examples",
  "e2e/promotion-crash",
  "backup/drill",
  "e2e/interrupted-exports",
  "platforms/cloudflare/ownership",
  "e2e/rolling-restart",
  "e2e/customized-app",
  "platforms/embedded/cluster/cluster-app-data",
  "e2e/deployment-crash",
  "e2e/push-crash",
  "backup/encrypted-backup",
  "e2e/archive-crash",
  "platforms/cloudflare/faults",
  "cli/deploy-folder",
  "cli/login",
  "worker/push-to-deploy",
  "worker/redeploy",
  "backup/shared-bucket",
  "e2e/server-crash",
  "database/lost-connections",
  "contract/bundler",
  "contract/git-source",
  "platforms/embedded/node-servers",
  "sandbox/prepared-files",
  "worker/environments",
  "cli/commands",
  "platforms/embedded/cluster/several-edges",
  "e2e/second-process",
  "mcp/procedures",
  "contract/edge-platform.cluster",
  "backup/scheduled-backups",
  "e2e/readiness",
  "platforms/embedded/postgres-dump/dump",
  "cli/agent-sync",
  "drivers/bundler/install-packages",
  "startup/service-bundle",
  "worker/repository-sources",
  "platforms/embedded/app-postgres",
  "platforms/embedded/supervisor",
  "platforms/embedded/cluster/node-servers",
  "e2e/dashboard-pages",
  "drivers/app-builder/command-app-builder",
  "drivers/app-builder/model-app-builder",
  "platforms/embedded/app-databases",
  "platforms/embedded/node-server-stops",
  "e2e/consent",
  "identity/rate-limits",
  "startup/admin",
  "platforms/embedded/app-databases-postgres",
  "e2e/dashboard",
  "mcp/call-snippets",
  "domain/deployments/interrupted-updates",
  "worker/deployment-pipeline",
  "rest/openclaw-servers",
  "contract/edge-platform.embedded",
  "worker/variables",
  "worker/deployed-repositories",
  "cli/bad-input",
  "rpc/authorization",
  "contract/sandbox",
  "sandbox/control-groups",
  "drivers/procedure-discovery/mcp-tools",
  "drivers/procedure-discovery/examples",
  "drivers/git-source/sandboxed-git",
  "drivers/procedure-discovery/hostile-apps",
  "drivers/bundler/build-step",
  "contract/archive-source",
  "contract/code-runtime-workspaces",
  "contract/edge-platform.remote",
  "contract/sql-databases.cloudflare",
  "worker/build-settings",
  "http/trusted-proxies",
  "conventions/conventions",
  "contract/auth-entries.cloudflare",
  "sandbox/fork-server",
  "contract/sql-databases.embedded",
  "domain/documents/document-quota",
  "platforms/embedded/always-on-apps",
  "worker/deploy-variables",
  "rest/archives",
  "e2e/readme",
  "text-workers/text-worker-pool",
  "domain/knowledge/languages",
  "e2e/dashboard-upload",
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
