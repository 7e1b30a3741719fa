import type { AssetRules } from "./bundler.ts";

export interface Script {
  appId: string;
  /** Grows with every attempt to publish the app, so a late worker cannot replace what a newer one put live. */
  generation: number;
  scriptPath: string;
  assets: { directory: string; rules: AssetRules } | null;
  /** The app's SQL database, bound under the names the script declares. */
  databaseId: string;
}

export interface PublishedScript {
  slug: string;
  appId: string;
}

/** The script answered its health probe with a server error, crashed, or did not answer in time. */
export class UnhealthyScript extends Error {
  override readonly name = "UnhealthyScript";
}

/** Where apps run. */
export interface EdgePlatform {
  /**
   * Puts `script` live at `slug` once it has answered a health probe, replacing any earlier version; until then, and
   * when it is refused, the earlier version keeps serving. Copies what it needs of the given paths. Safe to repeat.
   *
   * @throws {UnhealthyScript} with what the probe saw, in words for the app's owner
   * @throws {StaleGeneration} when a newer generation is already live
   */
  publish(slug: string, script: Script, signal: AbortSignal): Promise<{ url: string }>;
  /**
   * Stops and removes the script with everything it stored by itself (its key-value, object and durable storage).
   * Its SQL database stays. Succeeds when there is nothing to remove.
   */
  unpublish(slug: string): Promise<void>;
  /** Every script there is, for the sweep; also one whose publication was cut short. */
  list(): Promise<PublishedScript[]>;
  /** The public URL of a slug, whether or not anything is live there. */
  urlOf(slug: string): string;
}

/** A newer generation of the app is live. */
export class StaleGeneration extends Error {
  override readonly name = "StaleGeneration";
}
