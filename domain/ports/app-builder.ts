import type { OutputListener } from "./git-source.ts";

export interface Customization {
  /** The checked-out source, edited in place. */
  sourceDirectory: string;
  /** What the app's owner asked for, in their words. It is data for the agent, never part of a command. */
  instructions: string;
  onOutput: OutputListener;
  signal: AbortSignal;
}

/** The agent that changes an app's source to the owner's wishes before it is built. */
export interface AppBuilder {
  /** @throws {BuildFailure} when the agent gives up or leaves the source unusable */
  customize(customization: Customization): Promise<void>;
}
