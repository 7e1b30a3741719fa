import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { BundleRequest } from "../../../domain/ports/bundler.ts";
import type { Mount, Sandbox, SandboxLimits, SandboxNetwork, SandboxOutcome } from "../../../domain/ports/sandbox.ts";
import { OutputTail } from "./output-tail.ts";
import { INSIDE, type Toolchain, toolchainEnvironment, toolchainMounts } from "./toolchain.ts";

/** The parts of a build that run the project's code, named as its owner knows them. */
export type StepName = "install" | "build" | "bundling";

export type StepLimits = Readonly<Record<StepName, SandboxLimits>>;

export interface BuildContext {
  sandbox: Sandbox;
  toolchain: Toolchain;
  limits: StepLimits;
  request: BundleRequest;
  /** A folder for the caches and the home of this build's tools. */
  scratchDirectory: string;
}

export interface Step {
  name: StepName;
  argv: readonly [string, ...string[]];
  env?: Readonly<Record<string, string>>;
  mounts?: readonly Mount[];
  network?: SandboxNetwork;
}

export interface StepResult {
  code: number;
  output: OutputTail;
}

/**
 * Runs one step on the checkout to its own end; the exit code is the caller's to judge.
 *
 * @throws {BuildFailure} `user` for a step that went past a limit or crashed, `platform` for a sandbox that did not
 *   start; the reason of the request's signal when that was aborted
 */
export async function runStep(
  { sandbox, toolchain, limits, request, scratchDirectory }: BuildContext,
  step: Step,
): Promise<StepResult> {
  const output = new OutputTail([INSIDE.source, request.sourceDirectory]);
  const outcome = await sandbox
    .run({
      argv: step.argv,
      cwd: INSIDE.source,
      env: { ...toolchainEnvironment(toolchain), ...step.env },
      mounts: [
        ...toolchainMounts(toolchain),
        { from: request.sourceDirectory, to: INSIDE.source, writable: true },
        { from: scratchDirectory, to: INSIDE.scratch, writable: true },
        ...(step.mounts ?? []),
      ],
      network: step.network ?? { kind: "none" },
      limits: limits[step.name],
      signal: request.signal,
      onOutput: (chunk) => {
        output.add(chunk);
        request.onOutput(chunk);
      },
    })
    .catch((cause: unknown) => {
      throw new BuildFailure("platform", "The build sandbox could not be started", "Deploy again in a while.", {
        cause,
      });
    });
  request.signal.throwIfAborted();
  if (outcome.reason === "exit") return { code: outcome.code, output };
  throw cutShort(step.name, outcome, limits[step.name]);
}

function cutShort(
  step: StepName,
  outcome: Exclude<SandboxOutcome, { reason: "exit" }>,
  limits: SandboxLimits,
): BuildFailure {
  switch (outcome.reason) {
    case "time":
      return tooMuch(
        step,
        `took longer than ${duration(limits.wallTimeMs)}`,
        "Make it faster: look in the build log for where it stopped.",
      );
    case "memory":
      return tooMuch(
        step,
        `used more than ${limits.memoryMb} MB of memory`,
        "Make it need less memory: fewer parallel workers often suffice.",
      );
    case "disk":
      return tooMuch(
        step,
        `wrote more than ${limits.diskMb} MB to disk`,
        "Make it write less: look for large dependencies and generated files.",
      );
    case "signal":
      return tooMuch(step, `crashed with ${outcome.signal}`, "Look in the build log for what it did last.");
    case "aborted":
      return new BuildFailure("platform", `The ${step} was interrupted`, "Deploy again in a while.");
  }
}

function tooMuch(step: StepName, what: string, advice: string): BuildFailure {
  return new BuildFailure("user", `The ${step} ${what} and was stopped`, advice);
}

function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const [count, unit] = seconds < 120 ? [seconds, "second"] : [Math.round(seconds / 60), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
