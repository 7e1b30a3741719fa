import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import type { StorageRestriction } from "../../../../domain/ports/app-storage.ts";
import { type PublishedScript, type Script, StaleGeneration } from "../../../../domain/ports/edge-platform.ts";
import { parseJson } from "../../../../domain/shared/json.ts";
import { KeyedLock } from "../../../../domain/shared/keyed-lock.ts";
import { removeTree } from "../../../files/remove-tree.ts";
import { packPublication, unpackPublication } from "../../shared/publication-archive.ts";
import type { ScriptVersion } from "../script-version.ts";
import type { Scripts, ScriptStore } from "../scripts/script-store.ts";
import type { PlatformLog } from "../supervisor/supervisor-options.ts";
import { APPS_PREFIX, SERVER_DATA_PREFIX, VERSIONS_PREFIX } from "./bucket-layout.ts";
import type { SharedBucket } from "./shared-bucket.ts";
import { removeStoredData } from "./stored-data.ts";

/** The live version of an app, as all edges see it. */
interface LiveRecord {
  appId: string;
  generation: number;
  databaseId: string;
  /** The name of the version. */
  name: string;
  restriction: StorageRestriction | null;
}

const recordSchema = z.object({
  appId: z.string(),
  generation: z.number(),
  databaseId: z.string(),
  name: z.string(),
  restriction: z.object({ message: z.string(), servesOwner: z.boolean() }).nullable(),
});

interface SharedScriptsOptions {
  bucket: SharedBucket;
  /** The copies of this edge, from which its processes start. */
  local: ScriptStore;
  /** A folder for archives that are being unpacked. */
  workFolder: string;
  /** How long an edge may serve a version without asking the bucket, in milliseconds. */
  maxAgeMs?: number;
  log: PlatformLog;
}

const MAX_AGE_MS = 1_000;

/**
 * The scripts of the apps in the bucket, which all edges serve. Each edge has a copy of the live version, and asks the bucket at
 * most once in `maxAgeMs` whether there is another one. While the bucket cannot be reached, it serves what it has.
 */
export class SharedScripts implements Scripts {
  readonly #options: SharedScriptsOptions;
  readonly #checkedAt = new Map<string, number>();
  readonly #locks = new KeyedLock();
  /** The slugs of the versions that this edge has staged. A copy of another version would remove their files. */
  readonly #publishing = new Set<string>();

  constructor(options: SharedScriptsOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    await removeTree(this.#options.workFolder);
    await mkdir(this.#options.workFolder, { recursive: true, mode: 0o700 });
    await this.#options.local.open();
  }

  async live(slug: string): Promise<ScriptVersion | null> {
    if (!this.#isChecked(slug)) await this.#refresh(slug);
    return this.#options.local.live(slug);
  }

  logFolder(slug: string, appId: string): string {
    return this.#options.local.logFolder(slug, appId);
  }

  restriction(version: ScriptVersion): Promise<StorageRestriction | null> {
    return this.#options.local.restriction(version);
  }

  async setRestriction(version: ScriptVersion, restriction: StorageRestriction | null): Promise<void> {
    await this.#update(version.slug, (record) => (record?.appId === version.appId ? { ...record, restriction } : null));
    await this.#options.local.setRestriction(version, restriction);
  }

  async stage(slug: string, script: Script, signal: AbortSignal): Promise<ScriptVersion> {
    const { local, bucket } = this.#options;
    // After a copy that has begun.
    await this.#locks.run([slug], async () => void this.#publishing.add(slug));
    try {
      const version = await local.stage(slug, script, signal);
      await this.#withWorkFolder(async (folder) => {
        const archive = path.join(folder, "version.tar");
        await pipeline(packPublication(slug, script), createWriteStream(archive), { signal });
        await bucket.writeFile(archiveKey(version), archive);
      });
      return version;
    } catch (error) {
      this.#publishing.delete(slug);
      throw error;
    }
  }

  async commit(version: ScriptVersion): Promise<void> {
    const { slug, appId, generation, databaseId, name } = version;
    let replaced: LiveRecord | null = null;
    await this.#update(slug, (record) => {
      const isSame = record?.appId === appId;
      if (isSame && record.generation > generation) throw StaleGeneration.of(record.generation, generation);
      replaced = record;
      return { appId, generation, databaseId, name, restriction: isSame ? record.restriction : null };
    });
    await this.#options.local.commit(version);
    this.#setChecked(slug);
    this.#publishing.delete(slug);
    await this.#removeEarlier(version, replaced);
  }

  /** Removes a replaced app, and the archives of earlier generations. One that another edge is publishing has the same generation, or a later one. */
  async #removeEarlier({ slug, appId, generation }: ScriptVersion, replaced: LiveRecord | null): Promise<void> {
    const { bucket } = this.#options;
    if (replaced !== null && replaced.appId !== appId)
      for (const prefix of APP_PREFIXES) await bucket.removeAll(`${prefix}${slug}/${replaced.appId}/`);
    const folder = versionsFolder(slug, appId);
    for await (const { key } of bucket.list(folder))
      if (Number.parseInt(key.slice(folder.length), 10) < generation) await bucket.remove(key);
  }

  async discard(version: ScriptVersion): Promise<void> {
    const { local, bucket } = this.#options;
    try {
      const record = await this.#read(version.slug);
      if (record?.record.name !== version.name) await bucket.remove(archiveKey(version));
      await local.discard(version);
    } finally {
      this.#publishing.delete(version.slug);
    }
  }

  /** Removes the record first: from then on no edge starts the app. */
  async remove(slug: string): Promise<void> {
    const { local, bucket } = this.#options;
    const live = await this.#read(slug);
    await bucket.remove(recordKey(slug));
    if (live !== null) await removeStoredData(bucket, live.record.databaseId);
    for (const prefix of APP_PREFIXES) await bucket.removeAll(`${prefix}${slug}/`);
    this.#checkedAt.delete(slug);
    await local.remove(slug);
  }

  async list(): Promise<PublishedScript[]> {
    const { bucket } = this.#options;
    const found = new Map<string, PublishedScript>();
    for (const prefix of APP_PREFIXES)
      for await (const { key } of bucket.list(prefix)) {
        const [slug = "", appId = ""] = key.slice(prefix.length).split("/");
        found.set(`${slug}/${appId}`, { slug, appId });
      }
    return [...found.values()];
  }

  /** Brings the copy of this edge up to date. Requests at the same time share one check. */
  async #refresh(slug: string): Promise<void> {
    await this.#locks.run([slug], async () => {
      if (this.#publishing.has(slug) || this.#isChecked(slug)) return;
      try {
        const found = await this.#read(slug);
        if (found === null) await this.#forget(slug);
        else await this.#copy(slug, found.record);
      } catch (err) {
        this.#options.log.warn({ slug, err }, "the object store cannot be read; the app is served as it was");
      }
      this.#setChecked(slug);
    });
  }

  #isChecked(slug: string): boolean {
    const { maxAgeMs = MAX_AGE_MS } = this.#options;
    return performance.now() - (this.#checkedAt.get(slug) ?? -Infinity) <= maxAgeMs;
  }

  /** Forgets earlier checks that are no longer valid, so that requests for names without an app take no memory. */
  #setChecked(slug: string): void {
    this.#checkedAt.delete(slug);
    this.#checkedAt.set(slug, performance.now());
    // The oldest are first.
    for (const other of this.#checkedAt.keys()) {
      if (this.#isChecked(other)) break;
      this.#checkedAt.delete(other);
    }
  }

  async #forget(slug: string): Promise<void> {
    const { local } = this.#options;
    if ((await local.live(slug)) !== null) await local.remove(slug);
  }

  async #copy(slug: string, { name, appId, restriction }: LiveRecord): Promise<void> {
    const { local, bucket } = this.#options;
    const current = await local.live(slug);
    if (current?.name !== name) {
      const body = await bucket.openRead(archiveKey({ slug, appId, name }));
      // Another version is live meanwhile, and the next check finds it.
      if (body === null) return;
      await this.#withWorkFolder(async (folder) => {
        const { script } = await unpackPublication(body, folder);
        await local.commit(await local.stage(slug, script, AbortSignal.timeout(COPY_TIMEOUT_MS), name));
      });
    }
    const version = await local.live(slug);
    if (version !== null) await local.setRestriction(version, restriction);
  }

  async #withWorkFolder(work: (folder: string) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(path.join(this.#options.workFolder, "version-"));
    try {
      await work(folder);
    } finally {
      await removeTree(folder);
    }
  }

  async #read(slug: string): Promise<{ record: LiveRecord; etag: string } | null> {
    const found = await this.#options.bucket.read(recordKey(slug));
    if (found === null) return null;
    return { record: recordSchema.parse(parseJson(found.bytes.toString("utf8"))), etag: found.etag };
  }

  /** Replaces a record, also if another edge does so at the same time. `change` returns `null` to leave it as it is. */
  async #update(slug: string, change: (record: LiveRecord | null) => LiveRecord | null): Promise<void> {
    for (;;) {
      const found = await this.#read(slug);
      const next = change(found?.record ?? null);
      if (next === null) return;
      const condition = found === null ? ({ ifNoneMatch: "*" } as const) : { ifMatch: found.etag };
      const written = await this.#options.bucket.write(recordKey(slug), Buffer.from(JSON.stringify(next)), condition);
      if (written !== null) return;
    }
  }
}

/** The folders that have a folder for each slug, with one for each app. */
const APP_PREFIXES = [VERSIONS_PREFIX, SERVER_DATA_PREFIX];

const COPY_TIMEOUT_MS = 5 * 60_000;

function recordKey(slug: string): string {
  return `${APPS_PREFIX}${slug}.json`;
}

function versionsFolder(slug: string, appId: string): string {
  return `${VERSIONS_PREFIX}${slug}/${appId}/`;
}

function archiveKey({ slug, appId, name }: Pick<ScriptVersion, "slug" | "appId" | "name">): string {
  return `${versionsFolder(slug, appId)}${name}.tar`;
}
