import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

const PROJECT = path.resolve(import.meta.dirname, "../..");
const SOURCE_FOLDERS = ["domain", "routers", "server"];
const OTHER_SOURCES = ["package-lock.json", "node_modules/.package-lock.json", "scripts/build-service.ts"];

/** Every build of the bundle has its own folder in this one, so that a build does not change what a running service loads. */
export const BUNDLES_FOLDER = path.join(PROJECT, ".cache/service-bundle");
/** Names the newest complete build. */
export const MANIFEST_FILE = path.join(BUNDLES_FOLDER, "newest.json");

/** One complete build of the bundle. */
export interface BundleManifest {
  /** The fingerprint of the sources from which the bundle was built. */
  fingerprint: string;
  /** The folder of the build in `BUNDLES_FOLDER`. */
  folder: string;
  /** The file that exports `runService`. */
  entry: string;
  /** The sizes of all files of the bundle, in bytes. */
  sizes: Record<string, number>;
}

/**
 * Returns the bundle of the service's modules, which loads in half the time of the sources.
 *
 * @returns the path of the module that exports `runService`; `null` if the bundle is missing or incomplete, or if a source
 * has changed since its build
 */
export function findServiceBundle(): string | null {
  try {
    const { fingerprint, folder, entry, sizes } = readManifest();
    const root = path.join(BUNDLES_FOLDER, folder);
    const isComplete = Object.entries(sizes).every(([name, size]) => statSync(path.join(root, name)).size === size);
    return isComplete && fingerprint === fingerprintSources() ? path.join(root, entry) : null;
  } catch {
    return null;
  }
}

/** @throws when there is no complete build */
export function readManifest(): BundleManifest {
  return JSON.parse(readFileSync(MANIFEST_FILE, "utf8")) as BundleManifest;
}

/**
 * Returns a hash of the path, size and time of change of every source file, and of the files that name the versions of the
 * packages. The content is not read, because each start calculates the fingerprint.
 */
export function fingerprintSources(): string {
  const files = [...SOURCE_FOLDERS.flatMap((folder) => listFiles(path.join(PROJECT, folder))), ...OTHER_SOURCES];
  const states = files.map((file) => {
    const { size, mtimeMs } = statSync(path.resolve(PROJECT, file));
    return `${file} ${size} ${mtimeMs}`;
  });
  return createHash("sha256")
    .update([PROJECT, ...states].join("\n"))
    .digest("hex");
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    return entry.isDirectory() ? listFiles(file) : [file];
  });
}
