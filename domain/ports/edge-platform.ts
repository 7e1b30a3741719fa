import { formatNames } from "../shared/missing-variables.ts";
import type { AppCode, AssetRules } from "./bundler.ts";

export interface Script {
  appId: string;
  /** Absent for one that an earlier version of the service published. */
  organizationId?: string;
  /** Grows with every attempt to publish the app, so that a late worker cannot replace the script of a newer attempt. */
  generation: number;
  code: AppCode;
  assets: { directory: string; rules: AssetRules } | null;
  /** The app's SQL database, bound under the names that the script declares. */
  databaseId: string;
}

export interface PublishedScript {
  slug: string;
  appId: string;
}

export interface UnhealthyScriptOptions extends ErrorOptions {
  printed?: readonly string[];
}

/**
 * The script responded to its health probe with a server error, crashed, or did not respond in time, or the platform cannot
 * run it.
 */
export class UnhealthyScript extends Error {
  override readonly name: string = "UnhealthyScript";
  /** The first lines that the app printed, without its secrets. */
  readonly printed: readonly string[];

  constructor(message: string, { printed = [], ...options }: UnhealthyScriptOptions = {}) {
    super(message, options);
    this.printed = printed;
  }
}

/** The script responded to its health probe with a server error. */
export class ServerError extends UnhealthyScript {
  override readonly name = "ServerError";
}

/** The start command of a Node server ended without an error, and nothing listens on a port. */
export class NothingListens extends UnhealthyScript {
  override readonly name = "NothingListens";
}

/** The command that updates the database of a Node server failed, so the server was not started. */
export class ServerMigrationFailed extends UnhealthyScript {
  override readonly name = "ServerMigrationFailed";
}

/** The script uses what the platform does not have. */
export class UnsupportedScript extends UnhealthyScript {
  override readonly name = "UnsupportedScript";
}

/** The script has no function that handles requests. */
export class NoHandler extends UnhealthyScript {
  override readonly name = "NoHandler";
}

/** The script requires variables that the app does not have. */
export class MissingVariables extends UnhealthyScript {
  override readonly name = "MissingVariables";
  readonly variables: readonly string[];

  constructor(variables: readonly string[]) {
    const names = formatNames(variables);
    super(
      `The app requires ${variables.length === 1 ? `the variable ${names}, which is` : `the variables ${names}, which are`} not set.`,
    );
    this.variables = variables;
  }
}

/** A newer generation of the app is live. */
export class StaleGeneration extends Error {
  override readonly name = "StaleGeneration";

  static of(live: number, requested: number): StaleGeneration {
    return new StaleGeneration(`Generation ${live} of the app is live, which is newer than ${requested}.`);
  }
}

/** A script that is live. */
export interface Publication {
  url: string;
  problem?: ServerError | null;
  printed?: readonly string[];
  /** Whether the script redirected the probe to its own address with https, although its URL begins with http. */
  redirectsToHttps?: boolean;
}

/** Runs the scripts of apps. */
export interface EdgePlatform {
  /**
   * Makes `script` live at `slug`, with the newest variables of the app, after it has passed a health probe, and replaces
   * the earlier version. Until then, and after a failure, the earlier version serves. A script that responds with server
   * errors goes live only if nothing that works is replaced: the earlier version does so too, or there is none. Copies the
   * files at the given paths. Safe to repeat.
   *
   * @returns `problem` if the script responded to the probe with a server error and is live; otherwise `printed`, the first
   *   lines that it printed, without its secrets
   * @throws {UnhealthyScript} with the result of the probe, as text for the app's owner
   * @throws {StaleGeneration} when a newer generation is live
   * @throws {UnreadableVariable}
   */
  publish(slug: string, script: Script, signal: AbortSignal): Promise<Publication>;
  /**
   * Stops and removes the script with its key-value, object and durable storage. Its SQL database stays. Succeeds if
   * there is no script.
   */
  unpublish(slug: string): Promise<void>;
  /**
   * Restarts the script at `slug` if it runs with variables that are not the newest. Requests that arrive meanwhile wait.
   * If the script does not start, it continues to run as before. A script that is not running stays stopped, since it
   * starts with the newest variables. Safe to repeat.
   *
   * @throws {UnhealthyScript} when the script does not start with the newest variables
   * @throws {UnreadableVariable}
   */
  restart(slug: string, signal: AbortSignal): Promise<void>;
  /** The generation of the live script; `null` when no script is live at the slug. */
  liveGeneration(slug: string): Promise<number | null>;
  /** Lists all scripts, including those whose publication was interrupted, to find orphaned ones. */
  list(): Promise<PublishedScript[]>;
  /** The public URL of a slug, whether or not an app is live there. */
  urlOf(slug: string): string;
}
