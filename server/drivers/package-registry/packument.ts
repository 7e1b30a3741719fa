import { z } from "zod";
import { MIRROR_URL } from "./parse-mirror-request.ts";

const dist = z.looseObject({ tarball: z.string(), integrity: z.string().optional() });

const packumentSchema = z.object({
  name: z.string(),
  modified: z.unknown().optional(),
  "dist-tags": z.record(z.string(), z.string()).default({}),
  versions: z.record(z.string(), z.looseObject({ dist })).default({}),
});

/** The fields of a version that an install reads. A registry may send much more, such as the readme. */
const INSTALL_FIELDS = new Set(
  (
    "name version dependencies optionalDependencies devDependencies peerDependencies peerDependenciesMeta acceptDependencies " +
    "bundleDependencies bundledDependencies bin directories dist engines os cpu libc funding hasInstallScript _hasShrinkwrap deprecated"
  ).split(" "),
);

const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

export interface Tarball {
  url: string;
  integrity: string | undefined;
  /** Whether the package has a script that runs when it is installed. */
  hasInstallScript: boolean;
}

/** The metadata of one package (npm's term): all its versions. */
export interface Packument {
  /** JSON for clients of the mirror: the fields that an install reads, with tarball URLs of the mirror. */
  body: Buffer;
  /** The tarballs of the registry, by version. */
  tarballs: ReadonlyMap<string, Tarball>;
  /** The names of the packages on which any version depends. */
  dependencies: ReadonlySet<string>;
}

/** @throws {z.ZodError} when the document is not a packument */
export function readPackument(document: unknown): Packument {
  const { versions, ...rest } = packumentSchema.parse(document);
  const tarballs = new Map<string, Tarball>();
  const dependencies = new Set<string>();
  const abbreviated: Record<string, unknown> = {};
  for (const [version, manifest] of Object.entries(versions)) {
    const hasScript = hasInstallScript(manifest);
    const { tarball: url, integrity } = manifest.dist;
    tarballs.set(version, { url, integrity, hasInstallScript: hasScript });
    for (const field of DEPENDENCY_FIELDS) addNames(dependencies, manifest[field]);
    abbreviated[version] = abbreviateManifest(manifest, tarballUrl(rest.name, version), hasScript);
  }
  return { body: Buffer.from(JSON.stringify({ ...rest, versions: abbreviated })), tarballs, dependencies };
}

const DEPENDENCY_FIELDS = ["dependencies", "optionalDependencies", "peerDependencies"];

/** Adds the names in a field such as `{"react": "^19.0.0", "old-react": "npm:react@^18.0.0"}`. */
function addNames(names: Set<string>, field: unknown): void {
  if (typeof field !== "object" || field === null) return;
  for (const [name, range] of Object.entries(field)) names.add(/^npm:(@?[^@]+)/.exec(String(range))?.[1] ?? name);
}

function abbreviateManifest(
  manifest: Record<string, unknown> & { dist: object },
  tarball: string,
  hasScript: boolean,
): object {
  const fields = Object.entries(manifest).filter(([field]) => INSTALL_FIELDS.has(field));
  const abbreviated: Record<string, unknown> = Object.fromEntries(fields);
  if (hasScript) abbreviated["hasInstallScript"] = true;
  abbreviated["dist"] = { ...manifest.dist, tarball };
  return abbreviated;
}

function hasInstallScript({ hasInstallScript: declared, gypfile, scripts }: Record<string, unknown>): boolean {
  if (declared === true || gypfile === true) return true;
  return typeof scripts === "object" && scripts !== null && INSTALL_SCRIPTS.some((name) => name in scripts);
}

function tarballUrl(name: string, version: string): string {
  return `${MIRROR_URL}${name}/-/${name.replace(/^@.*\//, "")}-${version}.tgz`;
}
