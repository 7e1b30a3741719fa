import type { OutputListener } from "./git-source.ts";

export interface Customization {
  /** The checked-out source, which the agent edits in place. */
  sourceDirectory: string;
  /** The instructions of the app's owner, verbatim. They are data for the agent and never part of a command. */
  instructions: string;
  onOutput: OutputListener;
  signal: AbortSignal;
}

/** The app builder agent, which changes the source of an app before it is built. */
export interface AppBuilder {
  /** @throws {BuildFailure} when the agent fails or leaves the source unusable */
  customize(customization: Customization): Promise<void>;
}
