import { z } from "zod";

const dist = z.looseObject({ tarball: z.string(), integrity: z.string().optional() });

const packumentSchema = z.object({
  name: z.string(),
  modified: z.unknown().optional(),
  "dist-tags": z.record(z.string(), z.string()).default({}),
  versions: z.record(z.string(), z.looseObject({ dist })).default({}),
});

/** The fields of a version that an install reads; a registry may send its whole history and readme beside them. */
const INSTALL_FIELDS = new Set(
  (
    "name version dependencies optionalDependencies devDependencies peerDependencies peerDependenciesMeta acceptDependencies " +
    "bundleDependencies bundledDependencies bin directories dist engines os cpu libc funding hasInstallScript _hasShrinkwrap deprecated"
  ).split(" "),
);

export interface Tarball {
  url: string;
  integrity: string | undefined;
}

/** What a registry knows of one package. */
export interface Packument {
  /** The document for clients of the mirror: what an install needs, with tarballs that are the mirror's own. */
  body: Buffer;
  /** Where the registry has the tarball of each version. */
  tarballs: ReadonlyMap<string, Tarball>;
}

/** @throws {z.ZodError} when it is no packument */
export function readPackument(document: unknown, mirrorUrl: string): Packument {
  const { versions, ...rest } = packumentSchema.parse(document);
  const tarballs = new Map<string, Tarball>();
  const abbreviated: Record<string, unknown> = {};
  for (const [version, manifest] of Object.entries(versions)) {
    tarballs.set(version, { url: manifest.dist.tarball, integrity: manifest.dist.integrity });
    abbreviated[version] = abbreviate(manifest, `${mirrorUrl}${rest.name}/-/${fileName(rest.name, version)}`);
  }
  return { body: Buffer.from(JSON.stringify({ ...rest, versions: abbreviated })), tarballs };
}

function abbreviate(manifest: Record<string, unknown> & { dist: object }, tarball: string): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(manifest).filter(([field]) => INSTALL_FIELDS.has(field)));
  const scripts = manifest["scripts"];
  const installs =
    typeof scripts === "object" &&
    scripts !== null &&
    ["preinstall", "install", "postinstall"].some((name) => name in scripts);
  return { ...kept, ...(installs ? { hasInstallScript: true } : {}), dist: { ...manifest.dist, tarball } };
}

function fileName(name: string, version: string): string {
  return `${name.replace(/^@.*\//, "")}-${version}.tgz`;
}
