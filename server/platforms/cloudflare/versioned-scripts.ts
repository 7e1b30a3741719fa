import type { Script } from "../../../domain/ports/edge-platform.ts";
import type { VariableSet } from "../../../domain/ports/app-variables.ts";
import type { UploadForm } from "../shared/upload-form.ts";
import { type CloudflareBinding, durableClasses } from "./app-bindings.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { CloudflareError } from "./cloudflare-error.ts";
import {
  type NamespaceScripts,
  readTags,
  type ScriptSettings,
  type ScriptTags,
  writeTags,
} from "./namespace-scripts.ts";
import { createAppForm, type DurableMigrations } from "./upload-app.ts";
import { uploadAssets } from "./upload-assets.ts";

/** Everything that an upload of a script requires. */
export interface Version {
  slug: string;
  script: Script;
  form: UploadForm;
  bindings: CloudflareBinding[];
  variables: VariableSet;
  signal: AbortSignal;
}

/** A script as it was at one moment. */
export interface LiveScript extends ScriptSettings {
  /** Another one after each change of the script. */
  migrationTag: string | null;
}

interface VersionedScriptsOptions {
  client: CloudflareClient;
  scripts: NamespaceScripts;
  /** Whether Cloudflare checks the tag of migrations without classes. See `checkConditionalUploads`. */
  isConditional: boolean;
}

/** The old tag in an upload is not that of the last migration. */
export const WRONG_MIGRATION_TAG = 10079;

/** The script has changed since it was read. */
export class ScriptChanged extends Error {
  override readonly name = "ScriptChanged";
}

/**
 * Changes scripts only as they were when they were read. Cloudflare has no conditional requests, but rejects a migration of durable
 * objects whose old tag is not that of the script. So every change is a migration, mostly without classes, with a tag that no other
 * change has.
 */
export class VersionedScripts {
  readonly #options: VersionedScriptsOptions;

  constructor(options: VersionedScriptsOptions) {
    this.#options = options;
  }

  /** @returns `null` for a script that does not exist */
  async read(name: string, signal: AbortSignal): Promise<LiveScript | null> {
    const { scripts } = this.#options;
    // The tag first: if the script changes in between, the tag is outdated, and a change that expects it is rejected.
    const migrationTag = await scripts.migrationTag(name, signal);
    const settings = await scripts.settings(name, signal);
    return settings === null ? null : { ...settings, migrationTag };
  }

  /**
   * Uploads a version in place of `current`, whose durable objects are kept if it is of the same app.
   *
   * @throws {ScriptChanged} when the script is not `current` any more
   * @throws {UnhealthyScript}
   */
  async replace(name: string, version: Version, current: LiveScript | null): Promise<void> {
    const { client, scripts } = this.#options;
    const { script, form, bindings, variables, signal } = version;
    const tags = { appId: script.appId, generation: script.generation, variablesVersion: variables.version };
    const assets = script.assets && (await uploadAssets(client, scripts.path(name), script.assets, signal));
    const migrations = this.#migration(tags, current, migrationSteps(version, current));
    const body = createAppForm({ form, bindings, tags: writeTags(tags), assets, migrations });
    await this.#change(name, tags, signal, () => scripts.upload(name, body, { masks: variables.masks, signal }));
  }

  /**
   * Replaces the bindings of `current`. Its code stays.
   *
   * @throws {ScriptChanged} and {UnhealthyScript} as `replace` does
   */
  async update(
    name: string,
    { bindings, tags, masks }: { bindings: CloudflareBinding[]; tags: ScriptTags; masks: readonly string[] },
    { current, signal }: { current: LiveScript; signal: AbortSignal },
  ): Promise<void> {
    const migrations = this.#migration(tags, current, []);
    const change = { bindings, tags: writeTags(tags), ...(migrations === undefined ? {} : { migrations }) };
    await this.#change(name, tags, signal, () => this.#options.scripts.update(name, change, { masks, signal }));
  }

  #migration(
    tags: ScriptTags,
    current: LiveScript | null,
    steps: DurableMigrations["steps"],
  ): DurableMigrations | undefined {
    if (steps.length === 0 && !this.#options.isConditional) return undefined;
    const oldTag = current?.migrationTag ?? null;
    return { ...(oldTag === null ? {} : { old_tag: oldTag }), new_tag: migrationTagOf(tags), steps };
  }

  async #change(name: string, tags: ScriptTags, signal: AbortSignal, send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      if (!(error instanceof CloudflareError) || !error.hasCode(WRONG_MIGRATION_TAG)) throw error;
      // An attempt whose response was lost has changed the script already.
      const found = await this.#options.scripts.migrationTag(name, signal);
      if (found !== migrationTagOf(tags)) throw new ScriptChanged("The script has changed.", { cause: error });
    }
  }
}

function migrationTagOf({ appId, generation, variablesVersion }: ScriptTags): string {
  return `${appId}.${generation}.${variablesVersion}`;
}

/** The new classes of durable objects. Those of another app are deleted with their data. */
function migrationSteps({ script, bindings }: Version, current: LiveScript | null): DurableMigrations["steps"] {
  const existing = durableClasses(current?.bindings ?? []);
  const isSameApp = readTags(current?.tags ?? [])?.appId === script.appId;
  const added = durableClasses(bindings).filter((each) => !isSameApp || !existing.includes(each));
  return [
    ...(isSameApp || existing.length === 0 ? [] : [{ deleted_classes: existing }]),
    ...(added.length === 0 ? [] : [{ new_sqlite_classes: added }]),
  ];
}
