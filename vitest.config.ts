import { defineConfig } from "vitest/config";
import { LongestFirst, MAX_WORKERS } from "./test/support/longest-first.ts";
import { TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./test/support/time-limits.ts";
import { TEST_SERVICES, findUnavailableServices } from "./scripts/test-services.ts";

/** The tests that run a second time, on a PostgreSQL and a Redis outside the service, where those respond. */
const TESTS_ON_SERVICES = [
  "test/backup/several-edges-drill.test.ts",
  "test/contract/{change-feed,counter,job-queue}.test.ts",
  "test/e2e/{change-feed,deployment-crash,examples,failed-starts,roles-kills}.test.ts",
  "test/rest/{redis-outage,tokens-across-processes}.test.ts",
];

const embedded = {
  extends: true,
  test: {
    name: "embedded",
    include: ["test/**/*.test.ts"],
    env: { TEST_BACKEND: "embedded" },
  },
};

const services = {
  extends: true,
  test: {
    name: "services",
    include: TESTS_ON_SERVICES,
    env: { TEST_BACKEND: "services", ...TEST_SERVICES },
    globalSetup: "test/support/services-setup.ts",
  },
};

export default defineConfig(async () => ({
  test: {
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
    expect: { poll: { timeout: WAIT_LIMIT_MS } },
    // Test files of one worker share its modules: importing the service takes longer than most files run.
    isolate: false,
    // In MiB. With the default new space, a worker takes 1.07 times the CPU time, most of it for garbage collections.
    execArgv: ["--max-semi-space-size=64"],
    // Node runs the service's TypeScript as it is, in tests as in production.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    maxWorkers: MAX_WORKERS,
    sequence: { sequencer: LongestFirst },
    // Of the tests of one file that may run at the same time.
    maxConcurrency: 3,
    globalSetup: "test/support/global-setup.ts",
    setupFiles: process.env["TEST_CLOCK_MS"] === undefined ? [] : ["test/support/coarse-clock.ts"],
    projects: (await findUnavailableServices()).length === 0 ? [embedded, services] : [embedded],
  },
}));
