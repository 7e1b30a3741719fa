import {
  type EdgePlatform,
  type Publication,
  type PublishedScript,
  type Script,
  ServerError,
  StaleGeneration,
  UnhealthyScript,
} from "../../../../domain/ports/edge-platform.ts";
import type { AppAddress } from "../../../ports/app-address.ts";
import { KeyedLock } from "../../../../domain/shared/keyed-lock.ts";
import type { AppProcess } from "../app-process.ts";
import { hasServerError, probeHealth } from "./health-probe.ts";
import type { ScriptVersion } from "../script-version.ts";
import type { Scripts } from "./script-store.ts";

/** Throws if a version must not go live. */
export type Verify = (app: AppProcess) => Promise<void>;

/** Runs the processes of apps. */
export interface AppRunner {
  /**
   * Starts `version`, calls `verify`, and then sends the requests of the slug to it. If the start or `verify` fails,
   * the earlier version serves again. Requests that arrive meanwhile wait.
   */
  replace(version: ScriptVersion, verify: Verify, signal: AbortSignal): Promise<void>;
  /**
   * Calls `use` with the address of the app at `slug`, which is started if necessary.
   *
   * @returns `null` if the app serves no requests, or there is none
   */
  withLiveApp<T>(slug: string, use: (address: AppAddress) => Promise<T>): Promise<T | null>;
  /** Restarts the process at `slug` if it has variables that are not the newest. See `EdgePlatform.restart`. */
  restart(slug: string, signal: AbortSignal): Promise<void>;
  /** Stops the process at `slug` and calls `work`. No process can start there before `work` has finished. */
  withAppStopped(slug: string, work: () => Promise<void>): Promise<void>;
}

type ProbeOutcome = Omit<Publication, "url">;

export interface ScriptPublisherOptions {
  store: Scripts;
  apps: AppRunner;
  urlOf: (slug: string) => string;
  /** Whether requests of an app can fail because a process of another edge was killed; by default they never do. */
  isDisturbed?: (databaseId: string) => Promise<boolean>;
}

/** Publishes the scripts of apps on this machine. */
export class ScriptPublisher implements EdgePlatform {
  readonly #store: Scripts;
  readonly #apps: AppRunner;
  readonly #urlOf: (slug: string) => string;
  readonly #isDisturbed: (databaseId: string) => Promise<boolean>;
  readonly #locks = new KeyedLock();

  constructor({ store, apps, urlOf, isDisturbed = async () => false }: ScriptPublisherOptions) {
    this.#store = store;
    this.#apps = apps;
    this.#urlOf = urlOf;
    this.#isDisturbed = isDisturbed;
  }

  async publish(slug: string, script: Script, signal: AbortSignal): Promise<Publication> {
    const probe = await this.#locks.run([slug], async () => {
      signal.throwIfAborted();
      await this.#checkGeneration(slug, script);
      const version = await this.#store.stage(slug, script, signal);
      try {
        return await this.#replaceUndisturbed(version, signal);
      } catch (error) {
        await this.#store.discard(version);
        throw error;
      }
    });
    return { url: this.urlOf(slug), ...probe };
  }

  /** Tries again if the process that had the data of the app was killed meanwhile: then the script may not be the cause. */
  async #replaceUndisturbed(version: ScriptVersion, signal: AbortSignal): Promise<ProbeOutcome> {
    try {
      return await this.#replace(version, signal);
    } catch (error) {
      const isCause = !(error instanceof UnhealthyScript) || !(await this.#isDisturbed(version.databaseId));
      if (isCause) throw error;
      return await this.#replace(version, signal);
    }
  }

  /** A version that responds with server errors goes live if the one before does so too or there is none. */
  async #replace(version: ScriptVersion, signal: AbortSignal): Promise<ProbeOutcome> {
    const mayFail = (await this.#store.live(version.slug))?.appId !== version.appId;
    let result: ProbeOutcome = {};
    const makeLive = (isTolerant: boolean) => async (app: AppProcess) => {
      result = await this.#makeLive(version, app, { isTolerant, signal });
    };
    try {
      await this.#apps.replace(version, makeLive(mayFail), signal);
    } catch (error) {
      if (!(error instanceof ServerError) || !(await this.#liveHasServerError(version.slug, signal))) throw error;
      await this.#apps.replace(version, makeLive(true), signal);
    }
    return result;
  }

  async #liveHasServerError(slug: string, signal: AbortSignal): Promise<boolean> {
    const url = this.urlOf(slug);
    return (await this.#apps.withLiveApp(slug, (address) => hasServerError(address, url, signal))) ?? true;
  }

  async restart(slug: string, signal: AbortSignal): Promise<void> {
    // A publication in progress may already have read the variables.
    await this.#locks.run([slug], () => this.#apps.restart(slug, signal));
  }

  async unpublish(slug: string): Promise<void> {
    await this.#locks.run([slug], () => this.#apps.withAppStopped(slug, () => this.#store.remove(slug)));
  }

  async liveGeneration(slug: string): Promise<number | null> {
    return (await this.#store.live(slug))?.generation ?? null;
  }

  async list(): Promise<PublishedScript[]> {
    return this.#store.list();
  }

  urlOf(slug: string): string {
    return this.#urlOf(slug);
  }

  async #checkGeneration(slug: string, { appId, generation }: Script): Promise<void> {
    const live = await this.#store.live(slug);
    if (live?.appId === appId && live.generation > generation) throw StaleGeneration.of(live.generation, generation);
  }

  /** Makes a healthy version live, or one with server errors. A crash after this leaves the new version live. */
  async #makeLive(
    version: ScriptVersion,
    app: AppProcess,
    { isTolerant, signal }: { isTolerant: boolean; signal: AbortSignal },
  ): Promise<ProbeOutcome> {
    const result = await probeHealth(app, { url: this.urlOf(version.slug) }, signal).catch(
      (error: unknown): ProbeOutcome => {
        if (isTolerant && error instanceof ServerError) return { problem: error };
        throw error;
      },
    );
    await this.#store.commit(version);
    return result;
  }
}
