import type { TrialResult } from "../ports/app-builder-agent.ts";
import type { AppTrial } from "../ports/app-trial.ts";
import type { AppVariables, BuildVariables } from "../ports/app-variables.ts";
import type { Bundle, Bundler, BundleRequest, Dependency } from "../ports/bundler.ts";
import type { Workspace } from "../ports/temporary-workspaces.ts";
import { BuildFailure } from "../shared/errors.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";

export interface TrialDeps {
  bundler: Bundler;
  trial: AppTrial;
  variables: AppVariables & BuildVariables;
}

export interface TrialRequest {
  deployment: Pick<ClaimedDeployment, "appId" | "orgId" | "rootDirectory" | "buildNetwork" | "requestedRuntime">;
  workspace: Workspace;
  /** The edited source. */
  directory: string;
  /** Receives the output of builds. */
  onOutput(chunk: Uint8Array): void;
  signal: AbortSignal;
}

/** The most characters of a report. The middle of a longer one is left out. */
const MAX_REPORT_LENGTH = 8000;

/** Stands for the value of every variable of the app in trials. */
const PLACEHOLDER = "placeholder";

/** Builds and starts copies of a source that is being edited. */
export class Trials {
  readonly #deps: TrialDeps;
  readonly #request: TrialRequest;
  #count = 0;

  constructor(deps: TrialDeps, request: TrialRequest) {
    this.#deps = deps;
    this.#request = request;
  }

  /** Builds and starts a copy. @throws {BuildFailure} `platform` */
  run(): Promise<TrialResult> {
    return this.#tryCopy(async (request) => {
      const bundle = await this.#deps.bundler.bundle(request);
      const say = (line: string) => request.onOutput(Buffer.from(`${line}\n`));
      say(describeRuntime(bundle));
      const started = await this.#deps.trial.start(bundle, await this.#runtimeVariables(), request.signal);
      const { problem, status, printed } = started;
      for (const line of printed) say(`the app printed: ${line}`);
      if (problem !== null) return `The app builds, but does not start: ${problem}`;
      say(`GET / responds with ${status === null ? "nothing" : `status ${status}`}`);
      return null;
    });
  }

  /** Runs a script of package.json in a copy. @throws {BuildFailure} `platform` */
  runScript(name: string): Promise<TrialResult> {
    return this.#tryCopy(async (request) => {
      const isGood = await this.#deps.bundler.runScript(request, name);
      return isGood ? null : `The script ${name} failed.`;
    });
  }

  /** Adds a package to the edited source itself. @throws {BuildFailure} `platform` */
  addDependency(dependency: Dependency): Promise<TrialResult> {
    return this.#attempt(this.#request.directory, "dependency", async (request) => {
      await this.#deps.bundler.addDependency(request, dependency);
      return null;
    });
  }

  async #tryCopy(use: (request: BundleRequest) => Promise<string | null>): Promise<TrialResult> {
    this.#count += 1;
    const name = `trial-${this.#count}`;
    const { workspace, directory } = this.#request;
    const copy = await workspace.copyFolder(directory, name);
    try {
      return await this.#attempt(copy, name, use);
    } finally {
      await workspace.removeFolder(copy);
    }
  }

  /** @param use - returns what is wrong, or `null` */
  async #attempt(
    sourceDirectory: string,
    name: string,
    use: (request: BundleRequest) => Promise<string | null>,
  ): Promise<TrialResult> {
    const { workspace, deployment, signal } = this.#request;
    const outputDirectory = await workspace.createOutputFolder(name);
    const output = new ReportOutput();
    try {
      const problem = await use({
        sourceDirectory,
        outputDirectory,
        organizationId: deployment.orgId,
        appId: deployment.appId,
        rootDirectory: deployment.rootDirectory,
        network: deployment.buildNetwork,
        runtime: deployment.requestedRuntime,
        variables: await this.#buildVariables(),
        registry: await this.#deps.variables.readRegistry(deployment.appId),
        onOutput: (chunk) => {
          output.add(chunk);
          this.#request.onOutput(chunk);
        },
        signal,
      });
      return toResult(problem, output.text());
    } catch (error) {
      if (!(error instanceof BuildFailure) || error.kind === "platform") throw error;
      return toResult(`${error.message} ${error.advice}`, output.text());
    } finally {
      await workspace.removeFolder(outputDirectory);
    }
  }

  /** A trial must not read the values: the agent sees what it prints. */
  async #buildVariables(): Promise<Record<string, string>> {
    return toPlaceholders(await this.#deps.variables.readForBuild(this.#request.deployment.appId));
  }

  async #runtimeVariables(): Promise<Record<string, string>> {
    const { values } = await this.#deps.variables.read(this.#request.deployment.appId);
    return toPlaceholders(values);
  }
}

/** What the service has found out about an app by building it. */
function describeRuntime({ code }: Bundle): string {
  if (code.runtime === "worker") return "The app is a Worker.";
  const { command, postgres, migration } = code.server;
  const parts = [
    `The app is a Node server. It starts with: ${command}`,
    postgres === undefined ? "It has no PostgreSQL database." : "It has a PostgreSQL database.",
    ...(migration === undefined ? [] : [`Its database is migrated by: ${migration}`]),
  ];
  return parts.join("\n");
}

function toPlaceholders(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(variables).map((name) => [name, PLACEHOLDER]));
}

function toResult(problem: string | null, output: string): TrialResult {
  if (problem === null) return { passed: true, report: cutMiddle(`It works.\n\n${output}`, MAX_REPORT_LENGTH) };
  return { passed: false, report: cutMiddle(`${problem}\n\n${output}`, MAX_REPORT_LENGTH) };
}

const KEPT_BYTES = 256 * 1024;

/** Keeps the last bytes of the output of a build. */
class ReportOutput {
  #bytes = Buffer.alloc(0);

  add(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-KEPT_BYTES);
  }

  text(): string {
    return this.#bytes.toString("utf8");
  }
}

/** Shortens a text to about a number of characters by leaving out its middle, because errors stand at both ends. */
function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`;
}
