import { defineConfig } from "vitest/config";

/** Runs the commands that operators are told to run. Takes minutes and needs root. Run it with `npm run test:operations`. */
export default defineConfig({
  test: {
    globalSetup: "test/operations/required-programs.ts",
    include: ["test/operations/**/*.slow.ts"],
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    fileParallelism: false,
    reporters: ["default"],
  },
});
