import path from "node:path";
import type { BundleRequest } from "../../../domain/ports/bundler.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { TemporaryDatabases } from "../../ports/postgres.ts";
import type {
  LoopbackPort,
  Mount,
  Sandbox,
  SandboxLimits,
  SandboxNetwork,
  SandboxOutcome,
} from "../../ports/sandbox.ts";
import type { EgressOptions } from "../../sandbox/egress-proxy.ts";
import type { DependencyStore } from "./dependencies/dependency-store.ts";
import { explainCrash } from "./failures/explain-build.ts";
import type { WantedNode } from "./node-version.ts";
import { cutSingleLine, toSingleLine } from "./single-line.ts";
import { SANDBOX_PATHS, type Toolchain, toolchainEnvironment, toolchainMounts } from "./toolchain.ts";

/** The steps of a build that run the project's code. Error messages contain these names. */
export type StepName = "install" | "build" | "bundle";

/** Which hosts build scripts may connect to, and how. By default, the machine resolves names. */
export interface BuildEgressOptions extends Pick<EgressOptions, "lookup" | "isAllowedAddress"> {
  /** The text of the operator's setting, for error messages. */
  setting: string;
  /** `host:port` pairs that every build reaches. */
  hosts: readonly string[];
  /** Whether builds of apps that request it reach all public addresses. */
  isPublic: boolean;
}

export type StepLimits = Readonly<Record<StepName, SandboxLimits>>;

/** The data that all steps of one build use. */
export interface BuildContext {
  sandbox: Sandbox;
  toolchain: Toolchain;
  limits: StepLimits;
  request: BundleRequest;
  /** The environment variables that select the package manager of the project. */
  env: Readonly<Record<string, string>>;
  /** The version of Node.js that runs the scripts of the project; by default that of the service. */
  nodeVersion?: string;
  /** The version of Node.js in place of the one that the project names; `null` for that of the service. */
  replacedNode?: WantedNode | null;
  /** Which hosts a build script may connect to; `null` for none. */
  egress: BuildEgressOptions | null;
  /** Where builds store installed dependencies for later builds; `null` if they do not. */
  dependencies: DependencyStore | null;
  /** Databases for build scripts; `null` for none. */
  databases: TemporaryDatabases | null;
  /** Holds the caches and the home folder of the tools; removed after the build. */
  scratchDirectory: string;
}

export interface BuildStep {
  name: StepName;
  argv: readonly [string, ...string[]];
  /** The current folder, relative to the source; by default all of it. */
  directory?: string;
  env?: Readonly<Record<string, string>>;
  /** Whether the step gets the variables of the app; by default all but the install, which runs code of every dependency. */
  hasVariables?: boolean;
  mounts?: readonly Mount[];
  /** No network by default. */
  network?: SandboxNetwork;
  loopbackPorts?: readonly LoopbackPort[];
  /** Ends the step. Its reason is the failure of the build. */
  signal?: AbortSignal;
}

export interface StepResult {
  code: number;
  output: OutputTail;
}

/**
 * Runs one step on the checkout, in a sandbox of its own. The caller handles the exit code.
 *
 * @throws {BuildFailure} `user` when the step exceeds a limit or crashes, `platform` when the sandbox does not start
 * @throws the reason of the signal of the request or of the step when that was aborted
 */
export async function runBuildStep(context: BuildContext, step: BuildStep): Promise<StepResult> {
  const { sandbox, toolchain, limits, request, scratchDirectory } = context;
  const output = new OutputTail([SANDBOX_PATHS.source, request.sourceDirectory]);
  const outcome = await sandbox
    .run({
      argv: step.argv,
      cwd: path.posix.join(SANDBOX_PATHS.source, step.directory ?? "."),
      env: { ...ownVariables(step, request), ...toolchainEnvironment(toolchain), ...context.env, ...step.env },
      mounts: [
        ...toolchainMounts(toolchain),
        { from: request.sourceDirectory, to: SANDBOX_PATHS.source, writable: true },
        { from: scratchDirectory, to: SANDBOX_PATHS.scratch, writable: true },
        ...(step.mounts ?? []),
      ],
      network: step.network ?? { kind: "none" },
      ...(step.loopbackPorts === undefined ? {} : { loopbackPorts: step.loopbackPorts }),
      limits: limits[step.name],
      signal: step.signal === undefined ? request.signal : AbortSignal.any([request.signal, step.signal]),
      onOutput: (chunk) => {
        output.add(chunk);
        request.onOutput(chunk);
      },
    })
    .catch((cause: unknown) => {
      throw platformFailure("The build sandbox could not be started.", { cause });
    });
  request.signal.throwIfAborted();
  step.signal?.throwIfAborted();
  if (outcome.reason === "exit") return { code: outcome.code, output };
  if (outcome.reason === "signal")
    throw explainCrash(output.lines()) ?? describeOutcome(step.name, outcome, limits[step.name]);
  throw describeOutcome(step.name, outcome, limits[step.name]);
}

/** Writes a line to the build log. */
export function say({ request }: BuildContext, line: string): void {
  request.onOutput(Buffer.from(`${line}\n`));
}

function ownVariables(step: BuildStep, { variables = {} }: BundleRequest): Readonly<Record<string, string>> {
  return (step.hasVariables ?? step.name !== "install") ? variables : {};
}

/** What the advice for a step that took too long says about the setting of the operator. */
const TIME_SETTINGS: Readonly<Record<StepName, string>> = {
  install: " The operator can raise the limit with INSTALL_TIMEOUT_MS.",
  build: " The operator can raise the limit with BUILD_TIMEOUT_MS.",
  bundle: "",
};

function describeOutcome(
  step: StepName,
  outcome: Exclude<SandboxOutcome, { reason: "exit" }>,
  limits: SandboxLimits,
): BuildFailure {
  switch (outcome.reason) {
    case "time":
      return userFailure(
        `The ${step} step took longer than ${formatDuration(limits.wallTimeMs)} and was stopped.`,
        `Make it faster. The end of the build log shows its last activity.${TIME_SETTINGS[step]}`,
      );
    case "memory":
      return userFailure(
        `The ${step} step used more than ${limits.memoryMb} MB of memory and was stopped.`,
        "Reduce its memory use, for example with fewer parallel workers. The operator can raise the limit with BUILD_MEMORY_MB.",
      );
    case "disk":
      return userFailure(
        `The ${step} step wrote more than ${limits.diskMb} MB to disk and was stopped.`,
        "Reduce what it writes. Large dependencies and generated files are common causes. The operator can raise the limit with BUILD_DISK_MB.",
      );
    case "signal":
      return userFailure(
        `The ${step} step crashed with signal ${outcome.signal}.`,
        "The end of the build log shows its last activity.",
      );
    case "aborted":
      return platformFailure(`The ${step} step was interrupted.`);
  }
}

function userFailure(message: string, advice: string): BuildFailure {
  return new BuildFailure("user", message, advice);
}

function platformFailure(message: string, options?: ErrorOptions): BuildFailure {
  return new BuildFailure("platform", message, "Your app is not the cause. Deploy again in a few minutes.", options);
}

function formatDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const [count, unit] = seconds < 120 ? [seconds, "second"] : [Math.round(seconds / 60), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const TAIL_BYTES = 64 * 1024;
const MAX_LINE_LENGTH = 8192;

/** Lines that package managers and wrangler print around the reason of a failure. */
const NOISE =
  /^(npm (error code|error A complete log|warn|notice)|npm error$|ELIFECYCLE|WARN\s|For help, run: pnpm |error Command failed|info Visit |> |--dry-run: |🪵 )/u;

/** Keeps the last 64 KiB of a step's output, to quote from them when the step fails. */
export class OutputTail {
  readonly #sourceFolders: readonly string[];
  #bytes = Buffer.alloc(0);

  /** @param sourceFolders - paths of the source folder, which are removed from the lines */
  constructor(sourceFolders: readonly string[]) {
    this.#sourceFolders = sourceFolders;
  }

  add(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }

  /** Returns the lines that are neither empty nor noise, oldest first, with paths relative to the source folder. */
  lines(): string[] {
    return this.longLines().map(toSingleLine);
  }

  /** The same lines, up to a length that is too long to be quoted. */
  longLines(): string[] {
    const lines = this.#bytes.toString("utf8").split(/[\r\n]+/);
    return lines
      .map((line) => cutSingleLine(this.#withRelativePaths(line), MAX_LINE_LENGTH))
      .filter((line) => line !== "" && !NOISE.test(line));
  }

  #withRelativePaths(line: string): string {
    return this.#sourceFolders.reduce(
      (text, folder) => text.replaceAll(`file://${folder}/`, "").replaceAll(`${folder}/`, ""),
      line,
    );
  }
}
