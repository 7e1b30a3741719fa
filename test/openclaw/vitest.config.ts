import { writeFile } from "node:fs/promises";
import path from "node:path";
import { defineConfig } from "vitest/config";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { OPENCLAW_VERSION } from "./openclaw-version.ts";

const FILE = path.join(import.meta.dirname, "..", "..", "docs", "openclaw.md");

/** Writes docs/openclaw.md: the result of each test, and what it has recorded. */
class OpenClawReport implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const tests = modules.flatMap(({ children }) => [...children.allTests()]);
    const isComplete = tests.length > 0 && tests.every((test) => test.result().state !== "skipped");
    // A filtered run, and one without a gateway, replace no complete page.
    if (isComplete) await writeFile(FILE, `${header(tests)}${tests.map(describe).join("")}${outputs(tests)}`);
  }
}

function header(tests: readonly TestCase[]): string {
  const passed = tests.filter((test) => test.ok()).length;
  return `# OpenClaw

\`npm run test:openclaw\` wrote this page on ${new Date().toISOString().slice(0, 10)}. Do not edit it.

The test installs OpenClaw ${OPENCLAW_VERSION} from npm into a temporary folder and starts its gateway on a loopback address, with two agents
and a scripted model. It has no account. The agents have had a short conversation each. The driver passes the
[contract of agent hosts](decisions/0027-agent-hosts.md) against this gateway, and the tools of a service show what is in it.
[agents.md](agents.md#openclaw-servers) describes what the service does with a gateway.

${passed} of ${tests.length} tests passed.

| Test | Result |
|---|---|
`;
}

function describe(test: TestCase): string {
  const { state, errors = [] } = test.result();
  const [message = ""] = errors.map((error) => error.message.split("\n")[0] ?? "");
  const result = state === "passed" ? "passed" : `${state}: ${message.replaceAll("|", "\\|")}`;
  return `| ${test.name.replaceAll("|", "\\|")} | ${result} |\n`;
}

/** What the tests have annotated: the results of tools. */
function outputs(tests: readonly TestCase[]): string {
  const annotations = tests.flatMap((test) => test.annotations());
  const sections = annotations.map(({ type, message }) => `\n### \`${type}\`\n\n\`\`\`json\n${message}\n\`\`\`\n`);
  return sections.length === 0 ? "" : `\n## Results of the tools\n${sections.join("")}`;
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
