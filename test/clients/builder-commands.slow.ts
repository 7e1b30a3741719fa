import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { TokenUsage, TrialResult } from "../../domain/ports/app-builder-agent.ts";
import { CommandAppBuilder } from "../../server/drivers/app-builder/command-app-builder.ts";
import type { ModelEndpoint } from "../../server/drivers/app-builder/model-forwarder.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openBuilderModel, type Turn } from "./builder-model.ts";
import { installClient } from "./install-client.ts";

interface CodingAgent {
  packageName: string;
  version: string;
  installScript?: string;
  provider: ModelEndpoint["provider"];
  /** The command as docs/customization.md has it. PROGRAM stands for the path of its program. */
  program: string;
  /** The calls with which a model replaces a text in `src/index.ts`. */
  replace(from: string, to: string): Turn[];
}

/** The commands in the documentation, by the name of the agent. */
async function documentedCommands(): Promise<Map<string, string[]>> {
  const text = await readFile(path.join(import.meta.dirname, "../../docs/customization.md"), "utf8");
  const blocks = text.matchAll(/^### (.+)\n[^]*?```json\n([^]*?)```/gm);
  return new Map([...blocks].map(([, name = "", json = ""]) => [name, JSON.parse(json) as string[]]));
}

const FILE = "/project/src/index.ts";

const AGENTS: Record<string, CodingAgent> = {
  opencode: {
    packageName: "opencode-ai",
    version: "1.18.33",
    installScript: "postinstall.mjs",
    provider: "openai-compatible",
    program: "opencode",
    replace: (from, to) => [{ tool: "edit", input: { filePath: FILE, oldString: from, newString: to } }],
  },
  pi: {
    packageName: "@mariozechner/pi-coding-agent",
    version: "0.73.1",
    provider: "openai-compatible",
    program: "pi",
    replace: (from, to) => [{ tool: "edit", input: { path: FILE, edits: [{ oldText: from, newText: to }] } }],
  },
  "Claude Code": {
    packageName: "@anthropic-ai/claude-code",
    version: "2.1.331",
    installScript: "install.cjs",
    provider: "anthropic",
    program: "claude",
    replace: (from, to) => [
      { tool: "Read", input: { file_path: FILE } },
      { tool: "Edit", input: { file_path: FILE, old_string: from, new_string: to } },
    ],
  },
  Codex: {
    packageName: "@openai/codex",
    version: "0.169.0",
    provider: "openai-compatible",
    program: "codex",
    replace: (from, to) => [{ tool: "exec_command", input: { cmd: `sed -i 's/${from}/${to}/' src/index.ts` } }],
  },
};

for (const [name, agent] of Object.entries(AGENTS))
  describe(`the command of ${name}`, () => {
    let folder: string;
    let bin: string;

    beforeAll(async () => {
      folder = await mkdtemp(path.join(tmpdir(), "coding-agent-"));
      // The sandbox runs as another user.
      await chmod(folder, 0o755);
      bin = await installClient(agent, folder, AbortSignal.timeout(300_000));
    }, 300_000);

    afterAll(() => rm(folder, { recursive: true, force: true }));

    /** Runs the agent on a project. The trial passes if the file has one of the texts. */
    async function customize(works: string, ...turns: Turn[]) {
      const project = await temporaryFolder();
      onTestFinished(() => project[Symbol.asyncDispose]());
      const sourceDirectory = path.join(project.path, "source");
      await mkdir(path.join(sourceDirectory, "src"), { recursive: true });
      const file = path.join(sourceDirectory, "src/index.ts");
      await writeFile(file, 'export default { fetch: () => new Response("Hello") };\n');
      await using model = await openBuilderModel();
      model.respond(...turns);
      const command = (await documentedCommands()).get(name) ?? [];
      const [program = "", ...args] = command.map((part) => part.replaceAll("PROGRAM", path.join(bin, agent.program)));
      const endpoint = { provider: agent.provider, name: "scripted", baseUrl: model.url, apiKey: "the-key" };
      const sandbox = new BubblewrapSandbox();
      const builder = new CommandAppBuilder({ command: [program, ...args], folder, endpoint, sandbox });
      const usage: TokenUsage[] = [];
      const lines: string[] = [];
      const tryOut = async (): Promise<TrialResult> => {
        const passed = (await readFile(file, "utf8")).includes(works);
        return { passed, report: passed ? "" : "src/index.ts:1: Expected }" };
      };
      const report = await builder
        .customize({
          sourceDirectory,
          instructions: ["say Hello Ada"],
          conflicts: [],
          runtime: null,
          maxTokens: 1_000_000,
          tryOut,
          runScript: tryOut,
          addDependency: tryOut,
          say: (line) => void lines.push(line),
          onUsage: async (used) => void usage.push(used),
          signal: AbortSignal.timeout(120_000),
        })
        .catch((error: unknown) => {
          throw new Error(`${String(error)}\n${lines.join("\n")}\n${model.requests.join("\n")}`);
        });
      return { report, usage, content: await readFile(file, "utf8") };
    }

    test("changes the source with the configured model only, and its tokens count", async () => {
      const { report, usage, content } = await customize(
        "Hello Ada",
        ...agent.replace("Hello", "Hello Ada"),
        "It says Hello Ada.",
      );
      expect(content).toContain('new Response("Hello Ada")');
      expect(report.steps).toBeGreaterThanOrEqual(2);
      expect(usage).toContainEqual({ inputTokens: 100, outputTokens: 20 });
    }, 180_000);

    test("is started again with the error of the build, and corrects it", async () => {
      const { content } = await customize(
        "Hello Ada",
        ...agent.replace("Hello", "Broken"),
        "Done.",
        ...agent.replace("Broken", "Hello Ada"),
        "Corrected.",
      );
      expect(content).toContain('new Response("Hello Ada")');
    }, 180_000);
  });
