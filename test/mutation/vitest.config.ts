import { defineConfig } from "vitest/config";
import { failureRecorder, FastTestsFirst } from "./fast-tests-first.ts";
import { reusedProcess } from "./reused-process.ts";

/**
 * The tests of one area as mutation testing runs them: one after the other in one process, with one PostgreSQL for the whole
 * run. `main.ts` says which tests. Stryker's own option `testFiles` is not used, because with it Stryker 10.1 activates a
 * mutant of a module's constants only after the module is loaded, so it survives.
 */
export default defineConfig({
  test: {
    include: JSON.parse(process.env["MUTATION_TESTS"] ?? "[]") as string[],
    env: { TEST_BACKEND: "embedded" },
    provide: { loadedLate: process.env["MUTATION_LOADED_LATE"] ?? "" },
    testTimeout: Number(process.env["MUTATION_TEST_TIMEOUT"]),
    hookTimeout: 30_000,
    // The default of one second is too short for an upload on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    isolate: false,
    globalSetup: "test/support/global-setup.ts",
    setupFiles: "test/mutation/test-setup.ts",
    sequence: { sequencer: FastTestsFirst },
    reporters: [failureRecorder],
  },
  plugins: [
    {
      name: "reused-process",
      // Stryker's own configuration only knows the pools of Vitest.
      configureVitest({ vitest, project }) {
        for (const { config } of [vitest, project])
          Object.assign(config, { pool: reusedProcess.name, poolRunner: reusedProcess });
      },
    },
  ],
});
