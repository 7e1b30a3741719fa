import {
  type EdgePlatform,
  type PublishedScript,
  type Script,
  ServerError,
  StaleGeneration,
  UnhealthyScript,
  UnsupportedScript,
} from "../../../domain/ports/edge-platform.ts";
import type { AppVariables, VariableSet } from "../../../domain/ports/app-variables.ts";
import { KeyedLock } from "../../../domain/shared/keyed-lock.ts";
import { readUploadForm } from "../shared/upload-form.ts";
import { checkVariableNames } from "../shared/worker-bindings.ts";
import { appBindings, checkBindings, variableBindings } from "./app-bindings.ts";
import { type AppsAddress, appUrl } from "./apps-address.ts";
import type { AppStores } from "./app-stores.ts";
import type { CloudflareDatabases } from "./cloudflare-databases.ts";
import type { EdgeEntries } from "./edge-entries.ts";
import { hasServerError, type Probe, probeHealth } from "./health-probe.ts";
import { type NamespaceScripts, readTags } from "./namespace-scripts.ts";
import { type ResourceNames, slugOf } from "./resource-names.ts";
import { type LiveScript, ScriptChanged, type Version, type VersionedScripts } from "./versioned-scripts.ts";

export interface ScriptPublisherOptions {
  names: ResourceNames;
  scripts: NamespaceScripts;
  versions: VersionedScripts;
  entries: EdgeEntries;
  databases: CloudflareDatabases;
  stores: AppStores;
  variables: AppVariables;
  address: AppsAddress;
  /** Signs the requests of health probes. The dispatch worker has it too. */
  probeSecret: string;
}

/** How often a script is changed again that other processes change at the same time. */
const ATTEMPTS = 10;

const NODE_SERVER =
  "The app is a Node server, and this installation runs apps on Cloudflare, which runs Workers only. Deploy it as a Worker.";

/**
 * Publishes the scripts of apps to a dispatch namespace.
 *
 * The name of a live script is its slug, because durable objects belong to the name of their script. So a new version is first
 * uploaded under a second name and probed there, with the app's database and stores but with empty durable objects. Only
 * then it replaces the live script, in one request. The earlier version serves until then, and after a failure.
 */
export class ScriptPublisher implements EdgePlatform {
  readonly #options: ScriptPublisherOptions;
  readonly #locks = new KeyedLock();

  constructor(options: ScriptPublisherOptions) {
    this.#options = options;
  }

  async publish(
    slug: string,
    script: Script,
    signal: AbortSignal,
  ): Promise<{ url: string; problem: ServerError | null }> {
    const problem = await this.#locks.run([slug], () => this.#publish(slug, script, signal));
    return { url: this.urlOf(slug), problem };
  }

  async #publish(slug: string, script: Script, signal: AbortSignal): Promise<ServerError | null> {
    signal.throwIfAborted();
    if (script.code.runtime === "node") throw new UnsupportedScript(NODE_SERVER);
    const { entries, stores, variables: appVariables } = this.#options;
    const live = await this.#readLive(slug, script, signal);
    const form = await readUploadForm(script.code.scriptPath);
    const variables = await appVariables.read(script.appId);
    checkBindings(form, variables.values);
    const earlier = await entries.readSlug(slug);
    // Before anything is created, so that `list` and `unpublish` find what an interrupted publication leaves.
    if (earlier?.appId !== script.appId) await entries.writeSlug(slug, { appId: script.appId });
    const version = await this.#prepare({ slug, script, form, variables, signal });
    try {
      const problem = await this.#tryCandidate(version, isOf(live, script.appId));
      await this.#goLive(version);
      if (earlier !== null && earlier.appId !== script.appId) await stores.remove(earlier.appId);
      return problem;
    } finally {
      for (const appId of new Set([script.appId, earlier?.appId ?? script.appId]))
        await this.#removeCandidates(slug, appId, appId === script.appId ? script.generation : Infinity);
    }
  }

  /** @throws {StaleGeneration} */
  async #readLive(slug: string, { appId, generation }: Script, signal: AbortSignal): Promise<LiveScript | null> {
    const live = await this.#options.versions.read(slug, signal);
    const tags = readTags(live?.tags ?? []);
    if (tags?.appId === appId && tags.generation > generation) throw StaleGeneration.of(tags.generation, generation);
    return live;
  }

  async #prepare(version: Omit<Version, "bindings">): Promise<Version> {
    const { databases, stores } = this.#options;
    const { script, form, variables } = version;
    const { bindings: declared } = form.metadata;
    const resources = {
      appId: script.appId,
      databaseUuid: declared.some(({ type }) => type === "d1") ? await databases.ensure(script.databaseId) : "",
      stores: await stores.ensure(script.appId, declared),
    };
    return { ...version, bindings: appBindings(declared, resources, variables.values) };
  }

  /** Uploads a version under a second name and probes it there. @throws {UnhealthyScript} */
  async #tryCandidate(version: Version, hasLive: boolean): Promise<ServerError | null> {
    const { versions, names } = this.#options;
    const { slug, script, signal } = version;
    const candidate = names.candidate(slug, script.generation);
    try {
      await versions.replace(candidate, version, await versions.read(candidate, signal));
      return await this.#probe(version, candidate, hasLive);
    } catch (error) {
      // A newer version that has gone live has removed the candidate.
      if (error instanceof UnhealthyScript) await this.#readLive(slug, script, signal);
      throw error;
    }
  }

  /** Replaces the live script, unless it is newer. @throws {StaleGeneration} */
  async #goLive(version: Version): Promise<void> {
    const { slug, script, variables, signal } = version;
    const isFirst = await this.#changeLive(async () => {
      const current = await this.#readLive(slug, script, signal);
      await this.#options.versions.replace(slug, version, current);
      return current === null;
    });
    if (isFirst) await this.#awaitLive(version);
    const newest = await this.#options.variables.read(script.appId);
    // The change of a variable may have restarted the version that this one has replaced.
    if (newest.version > variables.version) await this.#applyVariables(slug, signal).catch(ignoreUnhealthy);
  }

  /** Calls `change` again when another process has changed the script in between. */
  async #changeLive<T>(change: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++)
      try {
        return await change();
      } catch (error) {
        if (!(error instanceof ScriptChanged) || attempt >= ATTEMPTS) throw error;
      }
  }

  /** Removes the candidates of an app up to a generation, also those that killed processes have left. */
  async #removeCandidates(slug: string, appId: string, generation: number): Promise<void> {
    const { scripts } = this.#options;
    for (const each of await scripts.list(appId))
      if (each.name !== slug && slugOf(each.name) === slug && each.generation <= generation)
        await scripts.remove(each.name);
  }

  /** @returns the problem of a version that responds with server errors, if the one before does so too or there is none */
  async #probe(version: Version, candidate: string, hasLive: boolean): Promise<ServerError | null> {
    const { slug, variables, signal } = version;
    try {
      await probeHealth(this.#probeOf(slug, candidate, variables), signal);
      return null;
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      if (hasLive && !(await hasServerError(this.#probeOf(slug, slug, variables), signal))) throw error;
      return error;
    }
  }

  /** Waits until the first version of an app responds, because Cloudflare distributes scripts to its locations. */
  async #awaitLive({ slug, variables, signal }: Version): Promise<void> {
    await hasServerError(this.#probeOf(slug, slug, variables), signal);
  }

  #probeOf(slug: string, script: string, { masks }: VariableSet): Probe {
    return { url: this.urlOf(slug), script, secret: this.#options.probeSecret, masks };
  }

  async restart(slug: string, signal: AbortSignal): Promise<void> {
    await this.#locks.run([slug], () => this.#applyVariables(slug, signal));
  }

  /** @throws {UnhealthyScript} */
  async #applyVariables(slug: string, signal: AbortSignal): Promise<void> {
    await this.#changeLive(async () => {
      const { versions, variables: appVariables } = this.#options;
      const current = await versions.read(slug, signal);
      const tags = readTags(current?.tags ?? []);
      if (current === null || tags === null) return;
      const { version, values, masks } = await appVariables.read(tags.appId);
      if (version <= tags.variablesVersion) return;
      checkVariableNames(current.bindings, values);
      // Every secret is a variable. What remains keeps its value.
      const kept = current.bindings
        .filter(({ name, type }) => type !== "secret_text" && !Object.hasOwn(values, name))
        .map(({ name }) => ({ type: "inherit", name }));
      const bindings = [...kept, ...variableBindings(values)];
      const change = { bindings, tags: { ...tags, variablesVersion: version }, masks };
      await versions.update(slug, change, { current, signal });
    });
  }

  async unpublish(slug: string): Promise<void> {
    await this.#locks.run([slug], async () => {
      const { scripts, entries, stores } = this.#options;
      const live = readTags((await scripts.settings(slug))?.tags ?? []);
      const appIds = new Set([(await entries.readSlug(slug))?.appId, live?.appId]);
      await scripts.remove(slug);
      for (const appId of appIds)
        if (appId !== undefined) {
          await this.#removeCandidates(slug, appId, Infinity);
          await stores.remove(appId);
        }
      // Last, so that a removal that is interrupted can be repeated.
      await entries.removeSlug(slug);
    });
  }

  async liveGeneration(slug: string): Promise<number | null> {
    return readTags((await this.#options.scripts.settings(slug))?.tags ?? [])?.generation ?? null;
  }

  async list(): Promise<PublishedScript[]> {
    const { scripts, entries } = this.#options;
    const found = new Map<string, PublishedScript>();
    for (const { name, appId } of await scripts.list()) found.set(slugOf(name), { slug: slugOf(name), appId });
    for (const slug of await entries.listSlugs()) {
      const entry = found.has(slug) ? null : await entries.readSlug(slug);
      if (entry !== null) found.set(slug, { slug, appId: entry.appId });
    }
    return [...found.values()];
  }

  urlOf(slug: string): string {
    return appUrl(this.#options.address, slug);
  }
}

function isOf(script: LiveScript | null, appId: string): boolean {
  return readTags(script?.tags ?? [])?.appId === appId;
}

/** The job that the change of the variable has queued reports the problem. */
function ignoreUnhealthy(error: unknown): void {
  if (!(error instanceof UnhealthyScript)) throw error;
}
