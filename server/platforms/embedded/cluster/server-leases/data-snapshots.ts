import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { replaceFile } from "../../../../files/durable-files.ts";
import { nullIfMissing } from "../../../../files/missing-file.ts";
import { removeTree } from "../../../../files/remove-tree.ts";
import { dataDirectory, type ScriptVersion } from "../../script-version.ts";
import type { UnpackLayer } from "../../scripts/script-store.ts";
import { type OpenData, openLocalData } from "../../app-placement.ts";
import type { PlatformLog } from "../../supervisor/supervisor-options.ts";
import type { SharedBucket } from "../shared-bucket.ts";
import type { HeldLease } from "./held-lease.ts";
import { type LeaseLocation, type LeaseRecord, serverDataPrefix } from "./lease-record.ts";

/** Reads folders that apps write to, also meanwhile. */
export interface FolderArchiver {
  /** A text that changes when something in the folder changes; empty for an empty folder, and for one that does not exist. */
  fingerprint(folder: string): Promise<string>;
  /**
   * Writes the content of a folder to an archive that `UnpackLayer` unpacks. SQLite databases in it are consistent.
   *
   * @returns what is left out
   * @throws {ServiceError} when a database changes all the time
   */
  pack(folder: string, archive: string, signal: AbortSignal): Promise<string[]>;
}

export interface DataSnapshotsOptions {
  bucket: SharedBucket;
  archiver: FolderArchiver;
  unpack: UnpackLayer;
  /** A folder for archives, on the disk of the apps. */
  workFolder: string;
  log: PlatformLog;
}

const SUFFIX = ".tar.zst";

/** The snapshots of `/data` of Node servers in the bucket. */
export class DataSnapshots {
  readonly #options: DataSnapshotsOptions;

  constructor(options: DataSnapshotsOptions) {
    this.#options = options;
  }

  /** Removes what an earlier process has left. */
  async open(): Promise<void> {
    await removeTree(this.#options.workFolder);
    await mkdir(this.#options.workFolder, { recursive: true, mode: 0o700 });
  }

  /**
   * Brings the data of an app on this machine to its newest snapshot, unless it is a continuation of that. The app must have no process,
   * and this edge the lease.
   *
   * @returns whether the data is the snapshot, without later changes
   */
  async restore(version: ScriptVersion, { snapshot }: LeaseRecord, signal: AbortSignal): Promise<boolean> {
    if (snapshot === null || (await this.#isCurrent(version, snapshot))) return false;
    await using copy = await this.#unpack(version, snapshot, signal);
    // Without a marker, a crash in between leaves data that the next start replaces.
    await rm(markerOf(version), { force: true });
    await removeTree(dataDirectory(version));
    await mkdir(version.storageDirectory, { recursive: true, mode: 0o700 });
    await rename(copy.folder, dataDirectory(version));
    await replaceFile(markerOf(version), snapshot);
    return true;
  }

  /** Opens the newest data that an edge without the lease has: the newest snapshot, or what is on this machine if that continues it. */
  async openNewest(version: ScriptVersion, snapshot: string | null, signal: AbortSignal): Promise<OpenData> {
    return snapshot === null || (await this.#isCurrent(version, snapshot))
      ? openLocalData(version)
      : this.#unpack(version, snapshot, signal);
  }

  /** Writes a snapshot that no record names yet. @returns its name, and what is left out; `null` for a folder without content */
  async write(
    app: LeaseLocation,
    data: string,
    signal: AbortSignal,
  ): Promise<{ name: string; warnings: string[] } | null> {
    const { bucket, archiver, workFolder } = this.#options;
    if ((await archiver.fingerprint(data)) === "") return null;
    const folder = await mkdtemp(path.join(workFolder, "snapshot-"));
    try {
      const archive = path.join(folder, `data${SUFFIX}`);
      const warnings = await archiver.pack(data, archive, signal);
      const name = randomUUID();
      await bucket.writeFile(keyOf(app, name), archive);
      return { name, warnings };
    } finally {
      await removeTree(folder);
    }
  }

  /** Prepares snapshots of an app after `restore`, which returned `isRestored`. */
  async follow(
    version: ScriptVersion,
    { lease, isRestored }: { lease: HeldLease; isRestored: boolean },
  ): Promise<AppSnapshots> {
    const { bucket, archiver } = this.#options;
    const outdated = new Set<string>();
    for await (const { key } of bucket.list(serverDataPrefix(version))) if (key.endsWith(SUFFIX)) outdated.add(key);
    const withoutSnapshot = lease.record.snapshot === null ? "" : null;
    const saved = isRestored ? await archiver.fingerprint(dataDirectory(version)) : withoutSnapshot;
    return new AppSnapshots({ ...this.#options, version, lease }, { outdated, saved });
  }

  /** Whether the data on this machine continues a snapshot. */
  async #isCurrent(version: ScriptVersion, snapshot: string): Promise<boolean> {
    return (await readFile(markerOf(version), "utf8").catch(nullIfMissing)) === snapshot;
  }

  async #unpack(version: ScriptVersion, snapshot: string, signal: AbortSignal): Promise<OpenData> {
    const { bucket, unpack, workFolder } = this.#options;
    await using opening = new AsyncDisposableStack();
    const folder = await mkdtemp(path.join(workFolder, "unpacked-"));
    opening.defer(() => removeTree(folder));
    const body = await bucket.openRead(keyOf(version, snapshot));
    if (body === null) throw new Error(`The snapshot ${snapshot} of the app's data does not exist`);
    const [archive, data] = [path.join(folder, `data${SUFFIX}`), path.join(folder, "data")];
    await pipeline(body, createWriteStream(archive), { signal });
    await mkdir(data, { mode: 0o700 });
    await unpack(archive, data, signal);
    const opened = opening.move();
    return { folder: data, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  }
}

interface AppSnapshotsOptions extends Pick<DataSnapshotsOptions, "bucket" | "archiver" | "workFolder" | "log"> {
  version: ScriptVersion;
  lease: HeldLease;
}

interface SnapshotState {
  /** The keys of snapshots that are not needed when there is another one. */
  outdated: Set<string>;
  /** The fingerprint of the data that is saved; `null` if it is not known. */
  saved: string | null;
}

/** Takes snapshots of one app while this edge has its lease. */
export class AppSnapshots {
  readonly #options: AppSnapshotsOptions;
  readonly #state: SnapshotState;

  constructor(options: AppSnapshotsOptions, state: SnapshotState) {
    this.#options = options;
    this.#state = state;
  }

  /** Saves the data, if it has changed and the lease is not lost. Calls must not overlap. */
  async take(): Promise<void> {
    const { archiver, version, lease, workFolder } = this.#options;
    const data = dataDirectory(version);
    const fingerprint = await archiver.fingerprint(data);
    if (fingerprint === this.#state.saved || lease.lost.aborted) return;
    const folder = await mkdtemp(path.join(workFolder, "snapshot-"));
    try {
      const archive = path.join(folder, `data${SUFFIX}`);
      const warnings = await archiver.pack(data, archive, lease.lost);
      if (warnings.length > 0) this.#warn({ warnings }, "a snapshot of an app's data lacks something");
      if (await this.#publish(archive)) this.#state.saved = fingerprint;
    } finally {
      await removeTree(folder);
    }
  }

  /** @returns whether the snapshot is the newest one now */
  async #publish(archive: string): Promise<boolean> {
    const { bucket, version, lease } = this.#options;
    const { outdated } = this.#state;
    const name = randomUUID();
    const key = keyOf(version, name);
    // Until the record has its name, the file is not needed.
    outdated.add(key);
    await bucket.writeFile(key, archive);
    if (!(await lease.update((record) => ({ ...record, snapshot: name })))) {
      await bucket.remove(key);
      return false;
    }
    await replaceFile(markerOf(version), name);
    for (const each of outdated) {
      if (each === key) continue;
      await bucket.remove(each);
      outdated.delete(each);
    }
    return true;
  }

  #warn(fields: object, message: string): void {
    const { slug, appId } = this.#options.version;
    this.#options.log.warn({ slug, appId, ...fields }, message);
  }
}

/** Names the snapshot that the data on this machine continues. */
function markerOf({ storageDirectory }: ScriptVersion): string {
  return path.join(path.dirname(storageDirectory), "data-snapshot");
}

function keyOf(version: LeaseLocation, name: string): string {
  return `${serverDataPrefix(version)}${name}${SUFFIX}`;
}
