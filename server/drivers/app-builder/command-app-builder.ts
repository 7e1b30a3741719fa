import { chmod, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import type { AppBuilder, Customization, CustomizationReport } from "../../../domain/ports/app-builder-agent.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { Sandbox, SandboxOutcome } from "../../ports/sandbox.ts";
import { SANDBOX_NODE, SANDBOX_PROXY_URL } from "../../sandbox/sandbox-environment.ts";
import { boundReached, toSummary, TrialHistory } from "./builder-outcome.ts";
import { BUILDER_INSTRUCTIONS, formatTask, section } from "./builder-prompt.ts";
import { addChangedDependencies, readManifest } from "./changed-dependencies.ts";
import { explainModelError } from "./model-errors.ts";
import { type ModelEndpoint, ModelForwarder } from "./model-forwarder.ts";
import { SandboxedFiles, withRequestFile } from "./sandboxed-files.ts";

export interface CommandAppBuilderOptions {
  /** Program and arguments. `{request_file}` stands for the path of the file with the request, in the sandbox. */
  command: readonly [string, ...string[]];
  /** A folder of the host that the command needs, at the same path in the sandbox; `null` if the system's folders suffice. */
  folder: string | null;
  endpoint: ModelEndpoint;
  sandbox: Sandbox;
  limits?: Partial<CommandLimits>;
}

export interface CommandLimits {
  /** How often the command is started: once, and again after each trial that fails. */
  runs: number;
  /** For all runs, builds included. In milliseconds. */
  wallTimeMs: number;
}

const LIMITS: CommandLimits = { runs: 5, wallTimeMs: 20 * 60_000 };

const REQUEST_FILE = "/request/request.md";
const OUTPUT_BYTES = 4 * 1024 * 1024;

/** What the prompt of the tool loop says about its tools does not apply. */
const OWN_TOOLS = `Use your own tools to read and edit files. You have no network but your model, and packages are not installed, so do not
build or run tests: that happens when you have finished, and you are started again with the errors. To add a package, write it into
package.json; the lockfile is updated for you.`;

/** Runs the command line of any coding agent in the sandbox, with its model as the only network. */
export class CommandAppBuilder implements AppBuilder {
  readonly #options: CommandAppBuilderOptions;

  constructor(options: CommandAppBuilderOptions) {
    this.#options = options;
  }

  async customize(customization: Customization): Promise<CustomizationReport> {
    const limits = { ...LIMITS, ...this.#options.limits };
    const { maxTokens, onUsage } = customization;
    await using forwarder = await ModelForwarder.open({ endpoint: this.#options.endpoint, maxTokens, onUsage });
    const home = await mkdtemp(`${customization.sourceDirectory}.home-`);
    const timeout = AbortSignal.timeout(limits.wallTimeMs);
    try {
      await chmod(home, 0o755);
      const signal = AbortSignal.any([customization.signal, timeout]);
      return await this.#run({ customization, forwarder, home, limits, signal });
    } catch (error) {
      customization.signal.throwIfAborted();
      if (!timeout.aborted) throw error;
      throw boundReached(`${Math.round(limits.wallTimeMs / 60_000)} minutes`, forwarder);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }

  async #run(run: CommandRun): Promise<CustomizationReport> {
    const { customization, forwarder, limits } = run;
    const { say, tryOut, sourceDirectory } = customization;
    const history = new TrialHistory(say);
    let request = await this.#firstRequest(run);
    for (let started = 1; ; started += 1) {
      const manifest = await readManifest(sourceDirectory);
      const { outcome, output } = await this.#start(run, request);
      const summary = lastWords(output);
      if (summary !== "") say(`the model says: ${summary}`);
      if (forwarder.isOutOfTokens) throw boundReached(`its ${customization.maxTokens} tokens of this month`, forwarder);
      if (outcome.reason !== "exit" || outcome.code !== 0) throw this.#explainEnd(forwarder, outcome);
      await addChangedDependencies(customization, manifest);
      const trial = await tryOut();
      history.record(trial);
      if (trial.passed) return { summary, steps: forwarder.steps };
      if (started === limits.runs) throw boundReached(`${limits.runs} runs`, forwarder);
      request = `${request}\n\nYour changes are in place, but the app does not work yet:\n${section("result", trial.report)}`;
    }
  }

  async #firstRequest({ customization, signal }: CommandRun): Promise<string> {
    const files = new SandboxedFiles(this.#options.sandbox, customization.sourceDirectory);
    const { files: list } = await files.run({ operation: "list" }, signal);
    return `${BUILDER_INSTRUCTIONS}\n\n${OWN_TOOLS}\n\n${formatTask(customization, list, null)}\n`;
  }

  #start(run: CommandRun, request: string): Promise<{ outcome: SandboxOutcome; output: string }> {
    const file = { name: path.basename(REQUEST_FILE), content: request };
    return withRequestFile(run.customization.sourceDirectory, file, (folder) => this.#runCommand(run, folder));
  }

  async #runCommand(run: CommandRun, requestFolder: string): Promise<{ outcome: SandboxOutcome; output: string }> {
    const { customization, forwarder, home, limits, signal } = run;
    const { command, folder, endpoint, sandbox } = this.#options;
    const output: Uint8Array[] = [];
    const [program, ...args] = command.map((part) => part.replaceAll("{request_file}", REQUEST_FILE));
    const outcome = await sandbox.run({
      argv: [program ?? "", ...args],
      cwd: "/project",
      env: environment(endpoint),
      mounts: [
        { from: customization.sourceDirectory, to: "/project", writable: true },
        { from: home, to: "/home/agent", writable: true },
        { from: requestFolder, to: path.dirname(REQUEST_FILE), writable: false },
        ...(folder === null ? [] : [{ from: folder, to: folder, writable: false }]),
      ],
      network: { kind: "proxy", socketPath: forwarder.socketPath },
      limits: {
        wallTimeMs: limits.wallTimeMs,
        memoryMb: 2048,
        processes: 512,
        fileSizeMb: 256,
        diskMb: 2048,
        outputBytes: OUTPUT_BYTES,
      },
      onOutput: (chunk) => void output.push(chunk),
      signal,
    });
    signal.throwIfAborted();
    return { outcome, output: Buffer.concat(output).toString("utf8") };
  }

  #explainEnd({ failedStatus }: ModelForwarder, outcome: SandboxOutcome): BuildFailure {
    if (failedStatus !== null) return explainModelError(failedStatus, null);
    const end = outcome.reason === "exit" ? `exit code ${outcome.code}` : outcome.reason;
    return new BuildFailure(
      "user",
      `The command of the app builder agent failed (${end}).`,
      "Nothing is changed. Ask the operator of the service to check BUILDER_COMMAND.",
    );
  }
}

interface CommandRun {
  customization: Customization;
  forwarder: ModelForwarder;
  home: string;
  limits: CommandLimits;
  /** Aborted when the deployment is canceled, or the time is over. */
  signal: AbortSignal;
}

/** What the sandbox has instead of the endpoint and its key. Commands take it from their own settings. */
function environment({ name }: ModelEndpoint): Record<string, string> {
  return {
    PATH: `/usr/local/bin:/usr/bin:/bin:${path.dirname(SANDBOX_NODE)}`,
    HOME: "/home/agent",
    LANG: "C.UTF-8",
    CI: "1",
    NO_COLOR: "1",
    MODEL_NAME: name,
    MODEL_BASE_URL: `${SANDBOX_PROXY_URL}/v1`,
    MODEL_API_KEY: "added-by-the-service",
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
  };
}

/** The last text in the output of a command: its last line, or of a line of JSON the last text in it. */
function lastWords(output: string): string {
  const line = output.trimEnd().split("\n").at(-1) ?? "";
  let words = line;
  try {
    const texts: string[] = [];
    JSON.parse(line, (key, value: unknown) => {
      if (typeof value === "string" && ["text", "result", "content", "message"].includes(key)) texts.push(value);
      return value;
    });
    words = texts.at(-1) ?? "";
  } catch {
    // The line is not JSON.
  }
  return toSummary(words);
}
