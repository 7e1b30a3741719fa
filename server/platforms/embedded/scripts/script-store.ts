import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import type { PublishedScript, Script } from "../../../../domain/ports/edge-platform.ts";
import { copyFileDurably, copyTree, replaceFile } from "../../../files/durable-files.ts";

/** One version of an app, ready to run. All paths are absolute. */
export interface ScriptVersion {
  slug: string;
  appId: string;
  generation: number;
  databaseId: string;
  /** Names the version among those of the app. */
  name: string;
  formPath: string;
  assets: { directory: string; rules: AssetRules } | null;
  /** Where the app's own key-value, object and durable storage lives; shared by all its versions. */
  storageDirectory: string;
}

/** What `live.json` holds; the rest of a version follows from where it lies. */
type Pointer = Pick<ScriptVersion, "appId" | "generation" | "databaseId" | "name"> & { rules: AssetRules | null };

/**
 * The scripts of all apps, on disk:
 *
 * ```text
 * scripts/<slug>/live.json                        which version answers; replaced by one rename
 * scripts/<slug>/<app id>/versions/<name>/        script.form, assets/
 * scripts/<slug>/<app id>/storage/                key-value, object and durable storage
 * trash/                                          on its way out; emptied by `open`
 * ```
 *
 * Whatever moment the process dies at, a slug answers with its old version, its new version or not at all, never with
 * a part. Nothing is kept in memory, so an app that nobody uses costs a few files. Calls for one slug must not overlap.
 */
export class ScriptStore {
  readonly #scripts: string;
  readonly #trash: string;

  constructor(root: string) {
    this.#scripts = path.join(root, "scripts");
    this.#trash = path.join(root, "trash");
  }

  /** Finishes what an earlier process was removing when it died. To be called before anything else. */
  async open(): Promise<void> {
    await rm(this.#trash, { recursive: true, force: true });
    await mkdir(this.#trash, { recursive: true, mode: 0o700 });
    await mkdir(this.#scripts, { recursive: true, mode: 0o700 });
  }

  /** The version that answers at `slug`, or `null`. */
  async live(slug: string): Promise<ScriptVersion | null> {
    if (!isSlug(slug)) return null;
    const text = await readFile(path.join(this.#scripts, slug, "live.json"), "utf8").catch(absent);
    return text === null ? null : this.#version(slug, JSON.parse(text) as Pointer);
  }

  /** Copies a script's files to where `commit` can put them live. What a cut-short attempt left behind goes away. */
  async stage(slug: string, script: Script): Promise<ScriptVersion> {
    if (!isSlug(slug)) throw new TypeError(`Not a slug: ${JSON.stringify(slug)}`);
    if (!isId(script.appId)) throw new TypeError(`Not an app id: ${JSON.stringify(script.appId)}`);
    const { appId, generation, databaseId, assets } = script;
    const name = `${generation}-${randomUUID()}`;
    const version = this.#version(slug, { appId, generation, databaseId, name, rules: assets?.rules ?? null });
    await this.#discardOthers(await this.live(slug), slug, appId);
    await mkdir(path.dirname(version.formPath), { recursive: true, mode: 0o755 });
    await mkdir(version.storageDirectory, { recursive: true, mode: 0o700 });
    await copyFileDurably(script.scriptPath, version.formPath);
    if (assets && version.assets) await copyTree(assets.directory, version.assets.directory);
    return version;
  }

  /** Makes a staged version the one that answers, then discards every other version. */
  async commit(version: ScriptVersion): Promise<void> {
    const { appId, generation, databaseId, name, assets } = version;
    const pointer: Pointer = { appId, generation, databaseId, name, rules: assets?.rules ?? null };
    await replaceFile(path.join(this.#scripts, version.slug, "live.json"), JSON.stringify(pointer));
    await this.#discardOthers(version, version.slug, appId);
  }

  /** Forgets a staged version; one that went live stays. */
  async discard(version: ScriptVersion): Promise<void> {
    if ((await this.live(version.slug))?.name === version.name) return;
    await this.#toTrash(path.dirname(version.formPath));
  }

  /** Removes whatever there is at `slug`, live or not, with everything the app stored. */
  async remove(slug: string): Promise<void> {
    if (isSlug(slug)) await this.#toTrash(path.join(this.#scripts, slug));
  }

  /** Every app that has files here, also one that never went live. */
  async list(): Promise<PublishedScript[]> {
    const slugs = await readdir(this.#scripts);
    const apps = await Promise.all(slugs.map((slug) => this.#apps(slug)));
    return slugs.flatMap((slug, at) => (apps[at] ?? []).map((appId) => ({ slug, appId })));
  }

  async #apps(slug: string): Promise<string[]> {
    const entries = (await readdir(path.join(this.#scripts, slug), { withFileTypes: true }).catch(absent)) ?? [];
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  }

  /** Removes all versions but `kept`, and all apps at the slug but the one it belongs to and `appId`. */
  async #discardOthers(kept: ScriptVersion | null, slug: string, appId: string): Promise<void> {
    for (const app of await this.#apps(slug)) {
      const folder = path.join(this.#scripts, slug, app);
      if (app !== appId && app !== kept?.appId) await this.#toTrash(folder);
      const names = (await readdir(path.join(folder, "versions")).catch(absent)) ?? [];
      for (const name of names) if (name !== kept?.name) await this.#toTrash(path.join(folder, "versions", name));
    }
  }

  /** One rename takes it out of sight whole; only then is it taken apart. */
  async #toTrash(folder: string): Promise<void> {
    const grave = path.join(this.#trash, randomUUID());
    await rename(folder, grave).catch(absent);
    await rm(grave, { recursive: true, force: true });
  }

  #version(slug: string, { rules, ...pointer }: Pointer): ScriptVersion {
    const app = path.join(this.#scripts, slug, pointer.appId);
    const folder = path.join(app, "versions", pointer.name);
    return {
      slug,
      ...pointer,
      formPath: path.join(folder, "script.form"),
      assets: rules && { directory: path.join(folder, "assets"), rules },
      storageDirectory: path.join(app, "storage"),
    };
  }
}

/** A DNS label. */
function isSlug(slug: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(slug);
}

/** Ids become folder names. */
function isId(id: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(id);
}

function absent(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
  throw error;
}
