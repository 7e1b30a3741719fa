import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { StorageRestriction } from "../../../../domain/ports/app-storage.ts";
import {
  type AppCode,
  type AssetRules,
  describeServer,
  type ServerDescription,
} from "../../../../domain/ports/bundler.ts";
import type { PublishedScript, Script } from "../../../../domain/ports/edge-platform.ts";
import { copyFileDurably, copyTree, replaceFile } from "../../../files/durable-files.ts";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { ScriptVersion, VersionCode } from "../script-version.ts";

/** The content of `live.json`. The path of the file determines the rest of a version. */
type LiveVersion = Pick<ScriptVersion, "appId" | "organizationId" | "generation" | "databaseId" | "name"> & {
  rules: AssetRules | null;
  /** Absent for a Worker. */
  server?: ServerDescription;
};

/** Unpacks the archive of a layer to an empty folder. */
export type UnpackLayer = (archive: string, folder: string, signal: AbortSignal) => Promise<void>;

/** What runs and publishes apps needs of their scripts. */
export type Scripts = Pick<ScriptStore, keyof ScriptStore>;

/**
 * The scripts of all apps, on disk:
 *
 * ```text
 * scripts/<slug>/live.json                        names the live version; replaced by one rename
 * scripts/<slug>/<app id>/versions/<name>/        script.form, assets/
 * scripts/<slug>/<app id>/layers/<digest>/        the files of a Node server, which its versions share
 * scripts/<slug>/<app id>/storage/                key-value, object and durable storage; data/ of a Node server
 * scripts/<slug>/<app id>/logs/                   what the app printed
 * scripts/<slug>/<app id>/restriction.json        why it is stopped, and for whom
 * trash/                                          folders that are being deleted; `open` empties it
 * ```
 *
 * If the process dies at any moment, a slug has its old version, its new version or none, never a part of one. The store
 * keeps nothing in memory, so an unused app costs only its files. Calls for one slug must not overlap.
 */
export class ScriptStore {
  readonly #scripts: string;
  readonly #trash: string;
  readonly #unpack: UnpackLayer;

  constructor(root: string, unpack: UnpackLayer) {
    this.#unpack = unpack;
    this.#scripts = path.join(root, "scripts");
    this.#trash = path.join(root, "trash");
  }

  /** Completes removals that an earlier process did not finish. Call it before any other method. */
  async open(): Promise<void> {
    await rm(this.#trash, { recursive: true, force: true });
    await mkdir(this.#trash, { recursive: true, mode: 0o700 });
    await mkdir(this.#scripts, { recursive: true, mode: 0o700 });
  }

  /** The live version at `slug`, or `null`. */
  async live(slug: string): Promise<ScriptVersion | null> {
    if (!isSlug(slug)) return null;
    const text = await readFile(path.join(this.#scripts, slug, "live.json"), "utf8").catch(nullIfMissing);
    return text === null ? null : this.#version(slug, JSON.parse(text) as LiveVersion);
  }

  /**
   * The folder of the runtime log of an app, which is removed with the app.
   *
   * @throws {TypeError} when the slug or the id is invalid
   */
  logFolder(slug: string, appId: string): string {
    if (!isSlug(slug)) throw new TypeError(`Invalid slug: ${JSON.stringify(slug)}`);
    if (!isId(appId)) throw new TypeError(`Invalid app id: ${JSON.stringify(appId)}`);
    return path.join(this.#scripts, slug, appId, "logs");
  }

  /** The restriction of the app of a version. All its versions share it. */
  async restriction(version: ScriptVersion): Promise<StorageRestriction | null> {
    const text = await readFile(restrictionFile(version), "utf8").catch(nullIfMissing);
    return text === null ? null : (JSON.parse(text) as StorageRestriction);
  }

  async setRestriction(version: ScriptVersion, restriction: StorageRestriction | null): Promise<void> {
    const file = restrictionFile(version);
    if (restriction === null) await rm(file, { force: true });
    else await replaceFile(file, JSON.stringify(restriction));
  }

  /**
   * Copies the files of a script, so that `commit` can make them live. Removes the remains of interrupted attempts.
   *
   * @param name - by default a new one
   */
  async stage(
    slug: string,
    script: Script,
    signal: AbortSignal,
    name = `${script.generation}-${randomUUID()}`,
  ): Promise<ScriptVersion> {
    if (!isSlug(slug)) throw new TypeError(`Invalid slug: ${JSON.stringify(slug)}`);
    if (!isId(script.appId)) throw new TypeError(`Invalid app id: ${JSON.stringify(script.appId)}`);
    const { code, assets, ...described } = script;
    const rules = assets?.rules ?? null;
    const version = this.#version(slug, { ...described, name, rules, ...describeCode(code) });
    await this.#discardOthers(await this.live(slug), slug, script.appId);
    await mkdir(version.folder, { recursive: true, mode: 0o755 });
    await mkdir(version.storageDirectory, { recursive: true, mode: 0o700 });
    await this.#copyCode(code, version.code, signal);
    if (assets && version.assets) await copyTree(assets.directory, version.assets.directory);
    return version;
  }

  /** Makes a staged version live, then discards every other version. */
  async commit(version: ScriptVersion): Promise<void> {
    const { slug, appId, organizationId, generation, databaseId, name, assets, code } = version;
    const rules = assets?.rules ?? null;
    const owner = organizationId === undefined ? {} : { organizationId };
    const live: LiveVersion = { appId, ...owner, generation, databaseId, name, rules, ...describeCode(code) };
    await replaceFile(path.join(this.#scripts, slug, "live.json"), JSON.stringify(live));
    await this.#discardOthers(version, slug, appId);
  }

  /** Discards a staged version, unless it is live. */
  async discard(version: ScriptVersion): Promise<void> {
    if ((await this.live(version.slug))?.name === version.name) return;
    await this.#toTrash(version.folder);
  }

  /** Removes all versions at `slug`, live or not, with all that the app stored. */
  async remove(slug: string): Promise<void> {
    if (isSlug(slug)) await this.#toTrash(path.join(this.#scripts, slug));
  }

  /** Lists every app that has files, including apps that never went live. */
  async list(): Promise<PublishedScript[]> {
    const slugs = await readdir(this.#scripts);
    const apps = await Promise.all(slugs.map((slug) => this.#apps(slug)));
    return slugs.flatMap((slug, index) => (apps[index] ?? []).map((appId) => ({ slug, appId })));
  }

  async #apps(slug: string): Promise<string[]> {
    const entries = (await readdir(path.join(this.#scripts, slug), { withFileTypes: true }).catch(nullIfMissing)) ?? [];
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  }

  /** Removes all versions except `kept`, and all apps at the slug except `appId` and the app of `kept`. */
  async #discardOthers(kept: ScriptVersion | null, slug: string, appId: string): Promise<void> {
    for (const app of await this.#apps(slug)) {
      const folder = path.join(this.#scripts, slug, app);
      if (app !== appId && app !== kept?.appId) await this.#toTrash(folder);
      const names = (await readdir(path.join(folder, "versions")).catch(nullIfMissing)) ?? [];
      for (const name of names) if (name !== kept?.name) await this.#toTrash(path.join(folder, "versions", name));
      const layers = (await readdir(path.join(folder, "layers")).catch(nullIfMissing)) ?? [];
      const used = kept?.code.runtime === "node" ? kept.code.server.layers.map(({ digest }) => digest) : [];
      for (const name of layers) if (!used.includes(name)) await this.#toTrash(path.join(folder, "layers", name));
    }
  }

  async #copyCode(from: AppCode, to: VersionCode, signal: AbortSignal): Promise<void> {
    if (from.runtime === "worker" && to.runtime === "worker") return copyFileDurably(from.scriptPath, to.formPath);
    if (from.runtime !== "node" || to.runtime !== "node") return;
    for (const [index, { path: archive }] of from.server.layers.entries()) {
      const directory = to.server.layers[index]?.directory ?? "";
      if ((await stat(directory).catch(nullIfMissing)) !== null) continue;
      // A folder with the name of a layer is always complete.
      const incomplete = `${directory}.${randomUUID()}`;
      await mkdir(incomplete, { recursive: true, mode: 0o755 });
      await this.#unpack(archive, incomplete, signal);
      await rename(incomplete, directory);
    }
  }

  /** Removes a folder in one step with a rename, and then deletes its content. */
  async #toTrash(folder: string): Promise<void> {
    const renamed = path.join(this.#trash, randomUUID());
    await rename(folder, renamed).catch(nullIfMissing);
    await rm(renamed, { recursive: true, force: true });
  }

  #version(slug: string, { rules, server, ...version }: LiveVersion): ScriptVersion {
    const app = path.join(this.#scripts, slug, version.appId);
    const folder = path.join(app, "versions", version.name);
    return {
      slug,
      ...version,
      folder,
      code: server ? locateLayers(app, server) : { runtime: "worker", formPath: path.join(folder, "script.form") },
      assets: rules && { directory: path.join(folder, "assets"), rules },
      storageDirectory: path.join(app, "storage"),
    };
  }
}

function describeCode(code: AppCode | VersionCode): Pick<LiveVersion, "server"> {
  return code.runtime === "worker" ? {} : { server: describeServer(code.server) };
}

function locateLayers(appFolder: string, server: ServerDescription): VersionCode {
  const directory = (digest: string) => path.join(appFolder, "layers", digest);
  const layers = server.layers.map(({ digest }) => ({ digest, directory: directory(digest) }));
  return { runtime: "node", server: { ...server, layers } };
}

function restrictionFile({ storageDirectory }: ScriptVersion): string {
  return path.join(path.dirname(storageDirectory), "restriction.json");
}

/** A DNS label. */
function isSlug(slug: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(slug);
}

/** Ids become folder names. */
function isId(id: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(id);
}
