import { defineConfig } from "vitest/config";
import { OpenClawReport } from "./openclaw-report.ts";

/** Runs a real OpenClaw gateway. Takes minutes and needs the npm registry. Run it with `npm run test:openclaw`. */
export default defineConfig({
  test: {
    include: ["test/openclaw/**/*.slow.ts"],
    testTimeout: 120_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 1,
    env: { TEST_BACKEND: "embedded" },
    globalSetup: "test/support/global-setup.ts",
    reporters: ["default", new OpenClawReport()],
  },
});
