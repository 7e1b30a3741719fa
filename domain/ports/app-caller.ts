import type { Invocation } from "./procedure-discovery.ts";

export interface AppCall {
  slug: string;
  /** The app's own token: what the app lets its owner do, the call may do. */
  appToken: string;
  /** The procedure's dotted name. */
  name: string;
  kind: "query" | "mutation";
  invocation: Invocation;
  input: Record<string, unknown>;
  signal: AbortSignal;
}

/** What an app answered. All of it is the app's own: data, whatever it says. */
export type AppAnswer = { ok: true; output: unknown } | { ok: false; status: number; message: string };

/** Calls the procedures of deployed apps. */
export interface AppCaller {
  /**
   * Carries out one call and hands out the app's answer, a refusal or failure of the app included.
   *
   * @throws {AppOutOfReach} when the app did not answer, or answered what cannot be read
   */
  call(call: AppCall): Promise<AppAnswer>;
}

/** The app did not answer in time, hung up, or answered too much or no JSON. `message` says which. */
export class AppOutOfReach extends Error {
  override readonly name = "AppOutOfReach";
}
