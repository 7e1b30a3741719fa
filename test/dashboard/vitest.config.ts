import { defineConfig } from "vitest/config";

/**
 * Uses the dashboard of a real service in Chromium, and checks the accessibility of each page. Takes minutes. Run it with
 * `npm run test:dashboard`.
 */
export default defineConfig({
  test: {
    include: ["test/dashboard/**/*.slow.ts", "test/e2e/dashboard-journeys.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 1,
    env: { TEST_BACKEND: "embedded" },
  },
});
