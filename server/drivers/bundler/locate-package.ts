import { lstat } from "node:fs/promises";
import path from "node:path";
import type { BundleRequest } from "../../../domain/ports/bundler.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { nullIfMissing } from "../../files/missing-file.ts";
import { withoutSideFolders } from "./inside/side-folders.ts";
import { readHead } from "./package-manager-version.ts";
import { findManifests } from "./read-package-names.ts";
import { isWorkspaceRoot, type PackageLocation } from "./read-project.ts";
import { toSingleLine } from "./single-line.ts";
import { buildOrder, choosePackage, type WorkspacePackage } from "./workspace-packages.ts";

type LocateRequest = Pick<BundleRequest, "sourceDirectory" | "rootDirectory" | "onOutput">;

/** Lists the packages of the workspace at a folder of the source, the root first. */
type ListPackages = (root: string) => Promise<WorkspacePackage[]>;

const MAX_DIRECTORY_LENGTH = 255;
const MAX_HINTS = 10;

/**
 * Finds the package to build: the requested one, otherwise the only one of a workspace that can be deployed, or the server that
 * its root starts, otherwise the root. Runs before any code of the project, so that no link can appear in a path that was checked.
 *
 * @param listPackages - called only for a workspace
 * @throws {BuildFailure} `user` when the requested folder does not exist, or when several packages can be deployed
 */
export async function locatePackage(request: LocateRequest, listPackages: ListPackages): Promise<PackageLocation> {
  const { sourceDirectory, rootDirectory = null, onOutput } = request;
  if (rootDirectory !== null) return locateRequested(sourceDirectory, rootDirectory, listPackages);
  const base = await readNetlifyBase(sourceDirectory);
  if (base !== null) {
    onOutput(Buffer.from(`Deploying ${toSingleLine(base)}, the base folder in netlify.toml.\n`));
    return locateRequested(sourceDirectory, base, listPackages);
  }
  if (!(await isWorkspaceRoot(sourceDirectory))) return rootOf(".");
  const packages = await listPackages(".");
  const { directory, reason } = choosePackage(packages);
  if (directory.length > MAX_DIRECTORY_LENGTH)
    throw new BuildFailure("user", "The path of the package is too long.", "Move the package to another folder.");
  if (reason !== null) onOutput(Buffer.from(`Deploying ${toSingleLine(reason)}.\n`));
  return directory === "." ? rootOf(".") : inWorkspace(packages, ".", directory);
}

/** `build.base` of netlify.toml, if it is a folder below the root. A search is enough here: the file is parsed in the sandbox. */
async function readNetlifyBase(sourceDirectory: string): Promise<string | null> {
  const text = await readHead(path.join(sourceDirectory, "netlify.toml"));
  const [, base = ""] = /^\s*\[build\]\s*\n(?:(?!\s*\[).*\n)*?\s*base\s*=\s*["']([^"'\n]+)["']/m.exec(text) ?? [];
  const directory = path.posix.normalize(base.replace(/^\/+/, "")).replace(/\/+$/, "");
  const isInside = directory !== "" && directory !== "." && !directory.startsWith("..");
  return isInside && directory.length <= MAX_DIRECTORY_LENGTH ? directory : null;
}

async function locateRequested(
  sourceDirectory: string,
  directory: string,
  listPackages: ListPackages,
): Promise<PackageLocation> {
  await requireFolder(sourceDirectory, directory);
  for (const ancestor of ancestorsOf(directory)) {
    if (!(await isWorkspaceRoot(path.join(sourceDirectory, ancestor)))) continue;
    if (ancestor === directory) return rootOf(directory);
    const packages = await listPackages(ancestor);
    const member = path.relative(ancestor, directory);
    if (packages.some((each) => each.directory === member)) return inWorkspace(packages, ancestor, member);
  }
  return {
    packageDirectory: directory,
    installDirectory: await findManifest(sourceDirectory, directory),
    isMember: false,
    buildFirst: [],
  };
}

function rootOf(directory: string): PackageLocation {
  return { packageDirectory: directory, installDirectory: directory, isMember: false, buildFirst: [] };
}

function inWorkspace(packages: readonly WorkspacePackage[], root: string, member: string): PackageLocation {
  return {
    packageDirectory: path.join(root, member),
    installDirectory: root,
    isMember: true,
    buildFirst: buildOrder(packages, member).map((each) => path.join(root, each)),
  };
}

/** The folder itself and those above it, up to the root of the source: `a/b`, `a`, `.`. */
function ancestorsOf(directory: string): string[] {
  return directory === "." ? ["."] : [directory, ...ancestorsOf(path.dirname(directory))];
}

/** A folder without a package.json uses the packages of the nearest folder above it that has one. */
async function findManifest(sourceDirectory: string, directory: string): Promise<string> {
  for (const ancestor of ancestorsOf(directory)) {
    const status = await lstat(path.join(sourceDirectory, ancestor, "package.json")).catch(nullIfMissing);
    if (status?.isFile()) return ancestor;
  }
  return directory;
}

/**
 * Checks that a path leads to a folder of the source without a link on the way.
 *
 * @throws {BuildFailure} `user`
 */
export async function requireFolder(sourceDirectory: string, directory: string): Promise<void> {
  for (const ancestor of ancestorsOf(directory).toReversed()) {
    const status = await lstat(path.join(sourceDirectory, ancestor)).catch(nullIfMissing);
    if (status?.isDirectory()) continue;
    const problem = status?.isSymbolicLink()
      ? "leads through a link. Links are not followed."
      : "is not a folder of the repository.";
    throw new BuildFailure(
      "user",
      `The root directory "${toSingleLine(directory)}" ${problem}`,
      `Set root_directory to a folder of the repository${await hint(sourceDirectory)} (PATCH /v1/apps/{id}), and deploy again.`,
    );
  }
}

async function hint(sourceDirectory: string): Promise<string> {
  const manifests = await findManifests(sourceDirectory);
  const all = manifests.map((file) => path.relative(sourceDirectory, path.dirname(file)) || ".");
  const folders = withoutSideFolders(all, (folder) => folder).slice(0, MAX_HINTS);
  return folders.length === 0 ? "" : `, such as ${folders.map(toSingleLine).join(", ")}`;
}
