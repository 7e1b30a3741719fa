import { strToU8, unzipSync, type Zippable, zipSync } from "fflate";

/** The files of an extension by their paths. */
export type BundleFiles = Record<string, Uint8Array>;

/** The first moment that a zip file can express. It contains local times, so this one is local too. */
const NO_TIME = new Date(1980, 0, 1);
const UNIX = 3;
const READABLE = 0o644 << 16;

/** Packs the files of a desktop extension (.mcpb). The same files give the same bytes, on every machine. */
export function packBundle(files: BundleFiles): Uint8Array {
  const entries: Zippable = {};
  for (const name of Object.keys(files).toSorted())
    entries[name] = [files[name] ?? new Uint8Array(), { os: UNIX, attrs: READABLE }];
  return zipSync(entries, { level: 9, mtime: NO_TIME });
}

/** Returns the files of a packed extension. */
export function unpackBundle(bundle: Uint8Array): BundleFiles {
  return unzipSync(bundle);
}

const MANIFEST = "manifest.json";

/** Sets the URL that the extension connects to, unless the user enters another one. */
export function withServiceUrl(bundle: Uint8Array, url: string): Uint8Array {
  const files = unpackBundle(bundle);
  const manifest = JSON.parse(new TextDecoder().decode(files[MANIFEST])) as Manifest;
  manifest.user_config.url.default = url;
  return packBundle({ ...files, [MANIFEST]: strToU8(`${JSON.stringify(manifest, null, 2)}\n`) });
}

/** The part of the manifest that the service changes. */
interface Manifest {
  user_config: { url: { default: string } };
}
