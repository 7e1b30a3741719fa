import {
  StaleGeneration,
  type EdgePlatform,
  type PublishedScript,
  type Script,
} from "../../../../domain/ports/edge-platform.ts";
import { probeHealth } from "./health-probe.ts";
import { KeyedLock } from "../../../../domain/shared/keyed-lock.ts";
import type { ScriptStore, ScriptVersion } from "./script-store.ts";
import type { WorkerdProcess } from "../workerd/workerd-process.ts";

/** Who runs the apps' processes. */
export interface AppHost {
  /**
   * Starts `version`, lets `admit` look at it, and from then on answers the slug's requests with it. When it does not
   * start or `admit` throws, the version that was live answers again. Requests that come in meanwhile wait.
   */
  replace(version: ScriptVersion, admit: (app: WorkerdProcess) => Promise<void>, signal: AbortSignal): Promise<void>;
  /** Stops what runs at `slug` and calls `remove` before anything could start there again. */
  retire(slug: string, remove: () => Promise<void>): Promise<void>;
}

interface Parts {
  store: ScriptStore;
  apps: AppHost;
  urlOf: (slug: string) => string;
}

/** Runs apps on this machine, each in its own workerd process behind the front door. */
export class EmbeddedEdgePlatform implements EdgePlatform {
  readonly #store: ScriptStore;
  readonly #apps: AppHost;
  readonly #urlOf: (slug: string) => string;
  readonly #turns = new KeyedLock();

  constructor({ store, apps, urlOf }: Parts) {
    this.#store = store;
    this.#apps = apps;
    this.#urlOf = urlOf;
  }

  async publish(slug: string, script: Script, signal: AbortSignal): Promise<{ url: string }> {
    await this.#turns.run([slug], async () => {
      signal.throwIfAborted();
      await this.#refuseStale(slug, script);
      const version = await this.#store.stage(slug, script);
      try {
        await this.#apps.replace(version, (app) => this.#admit(version, app, signal), signal);
      } catch (error) {
        await this.#store.discard(version);
        throw error;
      }
    });
    return { url: this.urlOf(slug) };
  }

  async unpublish(slug: string): Promise<void> {
    await this.#turns.run([slug], () => this.#apps.retire(slug, () => this.#store.remove(slug)));
  }

  async list(): Promise<PublishedScript[]> {
    return this.#store.list();
  }

  urlOf(slug: string): string {
    return this.#urlOf(slug);
  }

  async #refuseStale(slug: string, { appId, generation }: Script): Promise<void> {
    const live = await this.#store.live(slug);
    if (live?.appId === appId && live.generation > generation)
      throw new StaleGeneration(`Generation ${live.generation} of the app is live, which is newer than ${generation}.`);
  }

  /** The moment a version goes live: after this, a crash leaves the new one. */
  async #admit(version: ScriptVersion, app: WorkerdProcess, signal: AbortSignal): Promise<void> {
    await probeHealth(app, new URL(this.urlOf(version.slug)).host, signal);
    await this.#store.commit(version);
  }
}
