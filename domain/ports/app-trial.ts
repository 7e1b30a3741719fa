import type { BuiltBundle } from "./bundler.ts";

/** Starts apps beside their deployments, to see whether they start. */
export interface AppTrial {
  /**
   * Starts an app without network, variables and stored data, and stops it again.
   *
   * @returns why it does not start, which is untrusted; `null` if it starts
   */
  start(bundle: Pick<BuiltBundle, "scriptPath">, signal: AbortSignal): Promise<string | null>;
}
