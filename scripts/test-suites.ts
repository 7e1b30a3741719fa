import { globSync } from "node:fs";
import { dirname } from "node:path";

/**
 * The tests of builds, by path: they run git, package managers, bundlers, compilers and whole examples. `npm run test:builds`
 * runs them.
 */
export const BUILD_TESTS = [
  "test/contract/bundler.test.ts",
  "test/contract/git-source.test.ts",
  "test/drivers/bundler/",
  "test/drivers/git-source/",
  "test/drivers/package-registry/",
  "test/drivers/procedure-discovery/",
  "test/e2e/examples.test.ts",
  "test/e2e/roles.test.ts",
  "test/e2e/move-between-edges.test.ts",
  "test/e2e/several-edges.test.ts",
  "test/mcp/call-snippets.test.ts",
  "test/rest/generated-clients.test.ts",
  "test/rest/readme-clients.test.ts",
  "test/sdk/package.test.ts",
  "test/startup/service-bundle.test.ts",
  "test/worker/called-procedures.test.ts",
] as const;

/**
 * Long drills and further cases of what `npm test` covers, by path. `npm run test:slow` runs them: before a release, and after a
 * change to what a group names.
 */
export const SLOW_TESTS = [
  // What a crash, a lost connection or a restart may interrupt. `npm test` has deployment-crash and interrupted-updates.
  "test/database/lost-connections.test.ts",
  "test/e2e/{agent-workspaces,archive,customization,import,knowledge-sources,move-app,promotion,push,server,variables}-crash.test.ts",
  "test/e2e/interrupted-exports.test.ts",
  "test/e2e/random-kills.test.ts",
  "test/e2e/rolling-restart.test.ts",
  "test/e2e/second-process.test.ts",
  "test/e2e/suspended-clients-at-shutdown.test.ts",
  // Backups and moves of a whole installation. `npm test` has scheduled-backups and restored-copy.
  "test/backup/drill.test.ts",
  "test/backup/{encrypted,interrupted}-backup.test.ts",
  "test/backup/shared-bucket.test.ts",
  "test/e2e/move-postgres.test.ts",
  "test/worker/{move-database,s3-object-store}.test.ts",
  // Several edges, and Cloudflare. `npm test` has the contract of edge-platform.cluster, several-edges of the embedded platform, and the
  // client and deployments of Cloudflare; `npm run test:builds` has roles.
  "test/backup/several-edges-drill.test.ts",
  "test/contract/edge-platform.cloudflare.test.ts",
  "test/e2e/{,cloudflare-}roles-kills.test.ts",
  "test/platforms/cloudflare/{concurrent-publications,faults,long-migrations,ownership,stored-data}.test.ts",
  "test/platforms/embedded/cluster/{cluster-app-data,lost-leases,node-servers}.test.ts",
  // The app builder with whole deployments. `npm test` has its drivers, and a customization in deployment-pipeline.
  "test/e2e/{customized-app,customized-server}.test.ts",
  // Pages of the dashboard. `npm test` has dashboard, dashboard-pages, dashboard-logs, dashboard-upload, consent and keyboard-focus.
  "test/e2e/{account,agents,git-connections,knowledge,memory,openclaw-agents,organization,projects,reference}-page.test.ts",
  "test/e2e/dashboard-{connect,environments,instructions,journeys,knowledge,members,overview,procedures}.test.ts",
  "test/e2e/dashboard-{roles,skills,storage,transcript,usage}.test.ts",
  "test/e2e/{audit-log,connected-clients,daily-usage,organizations,token-scopes}.test.ts",
  // Further commands of the command line. `npm test` has commands, deploy-folder, login and bad-input.
  "test/cli/{agent-sync,customize,desktop-extension,full-disk,knowledge,mcp-failures,mcp-install,sessions}.test.ts",
  // Sources in the sandbox without limits, which is for development. `npm test` and `npm run test:builds` have those in bubblewrap.
  "test/contract/{archive,git}-source.unconfined.test.ts",
  // Sources of deployments and documents beyond a public repository.
  "test/worker/{private-repositories,repository-sources,url-sources}.test.ts",
] as const;

type Suite = "builds" | "slow" | "others";

/** The options of vitest that select a suite. Filters of `npm test` select from all tests. */
export function selectSuite(suite: Suite, options: readonly string[]): string[] {
  if (suite === "builds") return [...BUILD_TESTS, ...options];
  if (suite === "slow") return [...slowFiles(), ...options];
  if (options.some((option) => !option.startsWith("-"))) return [...options];
  const excluded = [...BUILD_TESTS, ...slowFiles()].map((path) => (path.endsWith("/") ? `${path}**` : path));
  return [...excluded.map((glob) => `--exclude=${glob}`), ...options];
}

function slowFiles(): string[] {
  return globSync(SLOW_TESTS, { cwd: dirname(import.meta.dirname) });
}
