import type { Dependency, Runtime } from "./bundler.ts";

/** The result of building and starting a copy of the edited source. */
export interface TrialResult {
  passed: boolean;
  /** What failed, with the end of the output. Untrusted: a build can print anything. */
  report: string;
}

/** The source that an agent edits, and what its owner wants. All texts are untrusted data for the agent. */
export interface Customization {
  /** A copy of the checked-out source, which the agent edits in place. */
  sourceDirectory: string;
  /** The instructions of the app's owner, oldest first. The source has the results of all but the last, except `conflicts`. */
  instructions: readonly string[];
  /** Earlier changes that do not fit the current source, as unified diffs. The agent makes them again. */
  conflicts: readonly string[];
  /** How the app runs, or was asked to run; `null` if that is known only after its first build. */
  runtime: Runtime | null;
  /** How many tokens the organization may still use, input and output together. */
  maxTokens: number;
  /** Installs, builds and starts a copy of the edited source, with placeholders for variables and without the app's data. */
  tryOut(): Promise<TrialResult>;
  /** Installs a copy of the edited source and runs a script of its package.json, such as `test`, like `tryOut`. */
  runScript(name: string): Promise<TrialResult>;
  /** Adds a package to package.json and the lockfile. Returns what the package manager printed. */
  addDependency(dependency: Dependency): Promise<TrialResult>;
  /** Writes a line of the service to the log of the deployment. */
  say(line: string): void;
  /** Called after each response of the model. */
  onUsage(usage: TokenUsage): Promise<void>;
  signal: AbortSignal;
}

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

export interface CustomizationReport {
  /** What the agent did and did not do, in its own words. Untrusted. */
  summary: string;
  /** How many times the model has responded. */
  steps: number;
}

/** The app builder agent, which changes the source of an app before it is built. */
export interface AppBuilder {
  /**
   * Edits the source until a trial passes. Not repeated by the driver.
   *
   * @throws {BuildFailure} `user` when a bound is reached, an error repeats, or the model's endpoint fails
   * @throws the reason of the signal
   */
  customize(customization: Customization): Promise<CustomizationReport>;
}
