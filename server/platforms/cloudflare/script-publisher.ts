import {
  type EdgePlatform,
  type PublishedScript,
  type Script,
  ServerError,
  StaleGeneration,
  UnsupportedScript,
} from "../../../domain/ports/edge-platform.ts";
import type { AppVariables, VariableSet } from "../../../domain/ports/app-variables.ts";
import { KeyedLock } from "../../../domain/shared/keyed-lock.ts";
import { readUploadForm, type UploadForm } from "../shared/upload-form.ts";
import { checkVariableNames } from "../shared/worker-bindings.ts";
import { appBindings, checkBindings, durableClasses, variableBindings } from "./app-bindings.ts";
import { type AppsAddress, appUrl } from "./apps-address.ts";
import type { AppStores } from "./app-stores.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { CloudflareError } from "./cloudflare-error.ts";
import type { CloudflareDatabases } from "./cloudflare-databases.ts";
import type { EdgeEntries } from "./edge-entries.ts";
import { hasServerError, type Probe, probeHealth } from "./health-probe.ts";
import { type NamespaceScripts, readTags, type ScriptSettings, writeTags } from "./namespace-scripts.ts";
import { type ResourceNames, slugOf } from "./resource-names.ts";
import { createAppForm, type DurableMigrations } from "./upload-app.ts";
import { uploadAssets } from "./upload-assets.ts";

export interface ScriptPublisherOptions {
  client: CloudflareClient;
  names: ResourceNames;
  scripts: NamespaceScripts;
  entries: EdgeEntries;
  databases: CloudflareDatabases;
  stores: AppStores;
  variables: AppVariables;
  address: AppsAddress;
  /** Signs the requests of health probes. The dispatch worker has it too. */
  probeSecret: string;
}

/** Everything that an upload of a script requires. */
interface Version {
  slug: string;
  script: Script;
  form: UploadForm;
  bindings: ReturnType<typeof appBindings>;
  variables: VariableSet;
  signal: AbortSignal;
}

/** The old tag in an upload is not that of the last migration. */
const WRONG_MIGRATION_TAG = 10079;

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
    const { entries, scripts, names, stores, variables: appVariables } = this.#options;
    const live = await this.#readLive(slug, script, signal);
    const form = await readUploadForm(script.code.scriptPath);
    const variables = await appVariables.read(script.appId);
    checkBindings(form, variables.values);
    const earlier = await entries.readSlug(slug);
    // Before anything is created, so that `list` and `unpublish` find what an interrupted publication leaves.
    if (earlier?.appId !== script.appId) await entries.writeSlug(slug, { appId: script.appId });
    const version = await this.#prepare({ slug, script, form, variables, signal });
    const candidate = names.candidate(slug);
    try {
      await this.#upload(candidate, version, null);
      const problem = await this.#probe(version, live !== null);
      // The probe takes a while. Cloudflare has no conditional upload, so this is the last moment to find a newer version.
      const current = await this.#readLive(slug, script, signal);
      await this.#upload(slug, version, current);
      if (current === null) await this.#awaitLive(version);
      if (earlier !== null && earlier.appId !== script.appId) await stores.remove(earlier.appId);
      return problem;
    } finally {
      await scripts.remove(candidate);
    }
  }

  /** @throws {StaleGeneration} */
  async #readLive(slug: string, { appId, generation }: Script, signal: AbortSignal): Promise<ScriptSettings | null> {
    const live = await this.#options.scripts.settings(slug, signal);
    const tags = readTags(live?.tags ?? []);
    if (tags?.appId !== appId) return null;
    if (tags.generation > generation)
      throw new StaleGeneration(`Generation ${tags.generation} of the app is live, which is newer than ${generation}.`);
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

  /** @param current - the script with this name, whose durable objects are kept; `null` without one */
  async #upload(name: string, version: Version, current: ScriptSettings | null): Promise<void> {
    const { client, scripts } = this.#options;
    const { script, form, bindings, variables, signal } = version;
    const tags = writeTags({ ...script, variablesVersion: variables.version });
    const assets = script.assets && (await uploadAssets(client, scripts.path(name), script.assets, signal));
    const send = async (live: ScriptSettings | null) => {
      const migrations = await this.#migrations(name, version, live);
      const body = createAppForm({ form, bindings, tags, assets, migrations });
      await scripts.upload(name, body, { masks: variables.masks, signal });
    };
    try {
      await send(current);
    } catch (error) {
      // An attempt whose response was lost has migrated the classes already.
      if (!(error instanceof CloudflareError) || !error.hasCode(WRONG_MIGRATION_TAG)) throw error;
      await send(await scripts.settings(name, signal));
    }
  }

  async #migrations(
    name: string,
    { script, bindings, signal }: Version,
    live: ScriptSettings | null,
  ): Promise<DurableMigrations | undefined> {
    const existing = durableClasses(live?.bindings ?? []);
    const added = durableClasses(bindings).filter((each) => !existing.includes(each));
    if (added.length === 0) return undefined;
    const oldTag = live === null ? null : await this.#options.scripts.migrationTag(name, signal);
    return {
      ...(oldTag === null ? {} : { old_tag: oldTag }),
      new_tag: `generation-${script.generation}`,
      steps: [{ new_sqlite_classes: added }],
    };
  }

  /** @returns the problem of a version that responds with server errors, if the one before does so too or there is none */
  async #probe(version: Version, hasLive: boolean): Promise<ServerError | null> {
    const { slug, variables, signal } = version;
    try {
      await probeHealth(this.#probeOf(slug, this.#options.names.candidate(slug), variables), signal);
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
    await this.#locks.run([slug], async () => {
      const { scripts, variables: appVariables } = this.#options;
      const live = await scripts.settings(slug, signal);
      const tags = readTags(live?.tags ?? []);
      if (live === null || tags === null) return;
      const variables = await appVariables.read(tags.appId);
      if (variables.version === tags.variablesVersion) return;
      checkVariableNames(live.bindings, variables.values);
      // Every secret is a variable. What remains keeps its value.
      const kept = live.bindings
        .filter(({ name, type }) => type !== "secret_text" && !Object.hasOwn(variables.values, name))
        .map(({ name }) => ({ type: "inherit", name }));
      const change = {
        bindings: [...kept, ...variableBindings(variables.values)],
        tags: writeTags({ ...tags, variablesVersion: variables.version }),
      };
      await scripts.update(slug, change, { masks: variables.masks, signal });
    });
  }

  async unpublish(slug: string): Promise<void> {
    await this.#locks.run([slug], async () => {
      const { scripts, names, entries, stores } = this.#options;
      const appIds = new Set([(await entries.readSlug(slug))?.appId]);
      for (const name of [slug, names.candidate(slug)]) {
        appIds.add(readTags((await scripts.settings(name))?.tags ?? [])?.appId);
        await scripts.remove(name);
      }
      for (const appId of appIds) if (appId !== undefined) await stores.remove(appId);
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
