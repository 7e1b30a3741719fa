import { defineConfig } from "vitest/config";
import type { Reporter, TestModule } from "vitest/node";
import { writeTestedRows } from "../support/tested-with.ts";
import { OPENCLAW_VERSION } from "./openclaw-version.ts";

const WORKS = "agents, sessions with token counters, transcripts, skills, instructions";
const LIMITS = ["sessions cannot be opened or imported, skills cannot be uploaded"];

/** Updates the table of docs/openclaw.md. A filtered run, and one without a gateway, change nothing. */
class OpenClawReport implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const tests = modules.flatMap(({ children }) => [...children.allTests()]);
    if (tests.length === 0 || tests.some((test) => test.result().state === "skipped")) return;
    const failed = tests.filter((test) => !test.ok()).map(({ name }) => `fails: ${name}`);
    const works = `${WORKS} (${tests.length - failed.length} of ${tests.length} tests)`;
    await writeTestedRows("openclaw.md", [
      { name: "OpenClaw", version: OPENCLAW_VERSION, works, limits: [...LIMITS, ...failed] },
    ]);
  }
}

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
