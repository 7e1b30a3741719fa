/**
 * The tests of builds, by path: they run git, package managers, bundlers, compilers and whole examples. `npm run test:builds`
 * runs them, and `npm test` the others.
 */
export const BUILD_TESTS = [
  "test/backup/several-edges-drill.test.ts",
  "test/contract/bundler.test.ts",
  "test/contract/git-source.test.ts",
  "test/drivers/bundler/",
  "test/drivers/git-source/",
  "test/drivers/package-registry/",
  "test/drivers/procedure-discovery/",
  "test/e2e/examples.test.ts",
  "test/e2e/roles.test.ts",
  "test/e2e/roles-kills.test.ts",
  "test/e2e/move-between-edges.test.ts",
  "test/e2e/several-edges.test.ts",
  "test/mcp/call-snippets.test.ts",
  "test/rest/generated-clients.test.ts",
  "test/rest/readme-clients.test.ts",
  "test/sdk/package.test.ts",
  "test/startup/service-bundle.test.ts",
  "test/worker/called-procedures.test.ts",
] as const;

/** The options of vitest that select a suite. Filters of the caller select from all tests. */
export function selectSuite(suite: "builds" | "others", options: readonly string[]): string[] {
  if (suite === "builds") return [...BUILD_TESTS, ...options];
  if (options.some((option) => !option.startsWith("-"))) return [...options];
  const excluded = BUILD_TESTS.map((path) => (path.endsWith("/") ? `${path}**` : path));
  return [...excluded.map((glob) => `--exclude=${glob}`), ...options];
}
