import type { LanguageModel, ModelMessage, ToolLoopAgent } from "ai";
import type {
  AppBuilder,
  Customization,
  CustomizationReport,
  TrialResult,
} from "../../../domain/ports/app-builder-agent.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { boundReached, toSummary, TrialHistory } from "./builder-outcome.ts";
import { BUILDER_INSTRUCTIONS, formatTask, section } from "./builder-prompt.ts";
import { createBuilderTools } from "./builder-tools.ts";
import { explainModelError } from "./model-errors.ts";
import { SandboxedFiles } from "./sandboxed-files.ts";

export interface ModelAppBuilderOptions {
  /** Opens the model, with a bound on the time and the size of each response. */
  openModel(): Promise<LanguageModel>;
  /** Where the files of apps are read and changed. */
  sandbox: Sandbox;
  limits?: Partial<BuilderLimits>;
}

export interface BuilderLimits {
  /** How many times the model may respond. */
  steps: number;
  /** For everything, builds included. In milliseconds. */
  wallTimeMs: number;
  /** How often a response of the endpoint is requested again after an error. */
  retries: number;
}

const BUILDER_LIMITS: BuilderLimits = { steps: 40, wallTimeMs: 20 * 60_000, retries: 2 };

const MAX_OUTPUT_TOKENS = 16_000;

/** A tool loop of the Vercel AI SDK. The loop runs in the service; what it does to files and builds runs in the sandbox. */
export class ModelAppBuilder implements AppBuilder {
  readonly #options: ModelAppBuilderOptions;

  constructor(options: ModelAppBuilderOptions) {
    this.#options = options;
  }

  async customize(customization: Customization): Promise<CustomizationReport> {
    const limits = { ...BUILDER_LIMITS, ...this.#options.limits };
    return new BuilderRun(this.#options, limits, customization).finish();
  }
}

type BuilderAgent = ToolLoopAgent<never, ReturnType<typeof createBuilderTools>>;

/** One customization. */
class BuilderRun {
  readonly #options: ModelAppBuilderOptions;
  readonly #limits: BuilderLimits;
  readonly #customization: Customization;
  readonly #files: SandboxedFiles;
  /** Ends the loop with a failure that a tool has noticed. */
  readonly #stop = new AbortController();
  readonly #timeout: AbortSignal;
  /** Aborted with any of the others, and when the deployment is canceled. */
  readonly #signal: AbortSignal;
  readonly #history: TrialHistory;
  #steps = 0;
  #tokens = 0;
  #hasEdited = false;
  /** Whether the last trial has passed, and nothing was edited since. */
  #isTried = false;

  constructor(options: ModelAppBuilderOptions, limits: BuilderLimits, customization: Customization) {
    this.#options = options;
    this.#limits = limits;
    this.#customization = customization;
    this.#files = new SandboxedFiles(options.sandbox, customization.sourceDirectory);
    this.#timeout = AbortSignal.timeout(limits.wallTimeMs);
    this.#signal = AbortSignal.any([customization.signal, this.#stop.signal, this.#timeout]);
    this.#history = new TrialHistory(customization.say);
  }

  async finish(): Promise<CustomizationReport> {
    try {
      return await this.#run();
    } catch (error) {
      this.#customization.signal.throwIfAborted();
      if (this.#stop.signal.aborted) throw this.#stop.signal.reason;
      if (this.#timeout.aborted) throw this.#bound(`${Math.round(this.#limits.wallTimeMs / 60_000)} minutes`);
      throw error;
    }
  }

  async #run(): Promise<CustomizationReport> {
    const agent = await this.#createAgent();
    const messages: ModelMessage[] = [{ role: "user", content: await this.#formatTask() }];
    for (;;) {
      const { text, finishReason, responseMessages } = await this.#generate(agent, messages);
      messages.push(...responseMessages);
      this.#checkBounds(finishReason);
      if (finishReason === "length") {
        messages.push({ role: "user", content: "Your response was cut off. Continue with smaller steps." });
        continue;
      }
      // The caller notices that nothing has changed.
      if (!this.#hasEdited) return { summary: toSummary(text), steps: this.#steps };
      const trial = this.#isTried ? null : await this.#tryOut();
      if (trial === null || trial.passed) return { summary: toSummary(text), steps: this.#steps };
      messages.push({ role: "user", content: `The app does not work yet:\n${section("result", trial.report)}` });
    }
  }

  async #createAgent(): Promise<BuilderAgent> {
    // Imported on first use: about 30 MB and a second.
    const { ToolLoopAgent: Agent } = await import("ai");
    const { say, addDependency, runScript } = this.#customization;
    const tools = createBuilderTools({
      useFiles: (request) => this.#orEnd(() => this.#files.run(request, this.#signal)),
      onEdit: () => {
        this.#hasEdited = true;
        this.#isTried = false;
      },
      tryOut: () => this.#orEnd(() => this.#tryOut()),
      runScript: (name) => this.#orEnd(() => runScript(name)),
      addDependency: (dependency) => this.#orEnd(() => addDependency(dependency)),
      say,
    });
    return new Agent({
      model: await this.#options.openModel(),
      instructions: BUILDER_INSTRUCTIONS,
      tools,
      // One after the other, because they change the same files.
      toolCallConcurrency: 1,
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      maxRetries: this.#limits.retries,
      stopWhen: [() => this.#steps >= this.#limits.steps, () => this.#isOutOfTokens],
    });
  }

  /** An error that the agent cannot correct ends the loop. Otherwise, the model would get its text. */
  async #orEnd<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#stop.abort(error);
      throw error;
    }
  }

  async #formatTask(): Promise<string> {
    const { files } = await this.#files.run({ operation: "list" }, this.#signal);
    const { content } = await this.#files.run({ operation: "read", path: "package.json" }, this.#signal);
    return formatTask(this.#customization, files, content);
  }

  async #generate(agent: BuilderAgent, messages: ModelMessage[]) {
    const { say, onUsage } = this.#customization;
    try {
      const result = await agent.generate({
        messages,
        abortSignal: this.#signal,
        onStepEnd: async ({ usage, text }) => {
          this.#steps += 1;
          const inputTokens = usage.inputTokens ?? 0;
          const outputTokens = usage.outputTokens ?? 0;
          this.#tokens += inputTokens + outputTokens;
          if (text.trim() !== "") say(`the model says: ${toSummary(text)}`);
          await onUsage({ inputTokens, outputTokens });
        },
      });
      return { text: result.text, finishReason: result.finishReason, responseMessages: result.responseMessages };
    } catch (error) {
      this.#signal.throwIfAborted();
      throw await toFailure(error);
    }
  }

  async #tryOut(): Promise<TrialResult> {
    const trial = await this.#customization.tryOut();
    this.#isTried = trial.passed;
    this.#history.record(trial);
    return trial;
  }

  get #isOutOfTokens(): boolean {
    return this.#tokens >= this.#customization.maxTokens;
  }

  #bound(bound: string): BuildFailure {
    return boundReached(bound, { steps: this.#steps, tokens: this.#tokens });
  }

  #checkBounds(finishReason: string): void {
    if (this.#isOutOfTokens) throw this.#bound(`its ${this.#customization.maxTokens} tokens of this month`);
    if (finishReason === "tool-calls" || this.#steps >= this.#limits.steps)
      throw this.#bound(`${this.#limits.steps} steps`);
  }
}

async function toFailure(error: unknown): Promise<unknown> {
  if (error instanceof BuildFailure) return error;
  const { APICallError, RetryError } = await import("ai");
  const cause = RetryError.isInstance(error) ? error.lastError : error;
  return explainModelError(APICallError.isInstance(cause) ? (cause.statusCode ?? null) : null, cause);
}
