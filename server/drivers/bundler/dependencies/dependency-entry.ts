import { createHash } from "node:crypto";
import path from "node:path";
import type { BuildContext } from "../build-step.ts";
import type { PackageManager } from "../detect-package-manager.ts";
import { allowsEngines } from "../install-scripts/prisma-engines.ts";
import type { Project } from "../read-project.ts";
import { wantedNode } from "../select-node.ts";
import { isConverted, wantedVersion } from "../select-package-manager.ts";
import { readInstallInputs } from "./install-inputs.ts";

/** What an install can store, or an earlier install has stored. */
export interface DependencyEntry {
  organizationId: string;
  /** A hash of everything that the install depends on. */
  key: string;
  /** What the install can create in the source, as relative paths. */
  paths: readonly string[];
}

/** The entries that one build can use or add. */
export interface BuildEntries {
  /** What an install without scripts creates. All apps of the organization use it. */
  installed: DependencyEntry;
  /** The same after the scripts of its packages. Only one app uses it. `null` if it cannot be stored. */
  withScripts: DependencyEntry | null;
}

/** Change it when an install or an archive gets another content for the same inputs. */
const FORMAT = 3;

export const LOCKFILES: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ["package-lock.json", "npm-shrinkwrap.json"],
  pnpm: ["pnpm-lock.yaml"],
  yarn: ["yarn.lock"],
  "yarn-berry": ["yarn.lock"],
  bun: ["bun.lock"],
};

/** What Yarn 2 and later creates besides `node_modules`. */
const YARN_FILES = [".pnp.cjs", ".pnp.loader.mjs", ".yarn"];

/**
 * Returns the entries for the dependencies of a project. They have the same keys as those of another build exactly if the
 * install has the same result.
 *
 * @returns `null` if the dependencies cannot be stored: without a lockfile, or if the install depends on more than
 *   manifests, lockfiles and settings
 */
export async function describeDependencies(context: BuildContext, project: Project): Promise<BuildEntries | null> {
  const { organizationId, appId, sourceDirectory } = context.request;
  const { packageManager, rootEntries, location } = project;
  if (context.dependencies === null || organizationId === undefined) return null;
  const lockfiles = LOCKFILES[packageManager].filter((name) => rootEntries.has(name));
  if (lockfiles.length === 0 || isConverted(rootEntries)) return null;
  const inputs = await readInstallInputs(sourceDirectory);
  if (inputs === null) return null;
  const version = await wantedVersion(context, project);
  const node = (await wantedNode(context, location))?.specs ?? null;
  const platform = [process.version, process.arch];
  // Not the token: an install with another one of the same registry has the same result.
  const registry = context.request.registry && [context.request.registry.scope, context.request.registry.url];
  const nested = project.nestedPackages.length === 0 ? {} : { nested: project.nestedPackages };
  const decisive = {
    organizationId,
    packageManager,
    version,
    location,
    platform,
    node,
    ...(registry && { registry }),
    ...nested,
  };
  const key = hash(decisive, inputs.files);
  const installed = {
    organizationId,
    key,
    paths: [
      ...inputs.packageDirectories.map((directory) => path.join(directory, "node_modules")),
      ...[...lockfiles, ...(packageManager === "yarn-berry" ? YARN_FILES : [])].map((name) =>
        path.join(location.installDirectory, name),
      ),
    ],
  };
  const { scriptFiles } = inputs;
  const isReusable = appId !== undefined && scriptFiles !== null;
  const ofScripts = { key, appId, ...(allowsEngines(context) && { engines: true }) };
  return { installed, withScripts: isReusable ? { ...installed, key: hash(ofScripts, scriptFiles) } : null };
}

function hash(decisive: object, files: ReadonlyMap<string, string>): string {
  const sum = createHash("sha256");
  for (const text of [JSON.stringify([FORMAT, decisive]), ...[...files].flat()]) sum.update(`${text.length}\n${text}`);
  return sum.digest("hex");
}
