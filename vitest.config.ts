import { defineConfig } from "vitest/config";
import { TEST_SERVICES, unansweredServices } from "./scripts/test-services.ts";

/** The suites that use a database or a counter. They run a second time, on Postgres and Redis, where those answer. */
const SUITES_ON_SERVICES = [
  "test/domain/{apps,deployments}/**/*.test.ts",
  "test/domain/procedures/procedure*.test.ts",
  "test/rest/**/*.test.ts",
  "test/identity/**/*.test.ts",
  "test/mcp/{docs-search,gateway,tools}.test.ts",
  "test/worker/**/*.test.ts",
  "test/e2e/{change-feed,crash,examples,start}*.test.ts",
  "test/contract/{change-feed,counter,job-queue}.test.ts",
];

const embedded = {
  extends: true,
  test: {
    name: "embedded",
    include: ["test/**/*.test.ts"],
    // The embedded database is part of the process; what happens to a server cannot happen to it.
    exclude: ["test/**/*.services.test.ts"],
    env: { TEST_BACKEND: "embedded" },
    sequence: { groupOrder: 0 },
  },
};

const services = {
  extends: true,
  test: {
    name: "services",
    include: SUITES_ON_SERVICES,
    env: { TEST_BACKEND: "services", ...TEST_SERVICES },
    sequence: { groupOrder: 1 },
  },
};

export default defineConfig(async () => ({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more than the cores that most machines have at least: many tests wait for something else than the processor.
    maxWorkers: 3,
    // Of the tests of one file that may run at the same time.
    maxConcurrency: 3,
    globalSetup: "test/support/global-setup.ts",
    projects: (await unansweredServices()).length === 0 ? [embedded, services] : [embedded],
  },
}));
