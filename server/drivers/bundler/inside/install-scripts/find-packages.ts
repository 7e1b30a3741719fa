import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { ancestorFolders } from "../ancestor-folders.ts";

/** The used parts of the package.json of a package. */
export interface Manifest {
  name?: unknown;
  version?: unknown;
  scripts?: Readonly<Record<string, unknown>>;
  gypfile?: boolean;
  dependencies?: Readonly<Record<string, unknown>>;
  devDependencies?: Readonly<Record<string, unknown>>;
  optionalDependencies?: Readonly<Record<string, unknown>>;
  peerDependencies?: Readonly<Record<string, unknown>>;
  peerDependenciesMeta?: Readonly<Record<string, { optional?: boolean }>>;
  [field: string]: unknown;
}

export interface InstalledPackage {
  /** Its folder, without links in the path. */
  folder: string;
  name: string;
  version: string;
  manifest: Manifest;
  /** The scripts that run when it is installed, in this order. */
  scripts: readonly (readonly [event: string, command: string])[];
  /** Whether the project works without it. */
  isOptional: boolean;
}

interface Node {
  folder: string;
  manifest: Manifest;
  required: Node[];
  optional: Node[];
}

const INSTALL_EVENTS = ["preinstall", "install", "postinstall"];

/**
 * Finds the installed packages of a project that have scripts, each one after those that it depends on. Follows the
 * dependencies as Node.js resolves them, so that it works with the `node_modules` of every package manager.
 *
 * @param projects - the folders of the project and of its packages in the workspace
 */
export function findScriptedPackages(projects: readonly string[]): InstalledPackage[] {
  const nodes = new Map<string, Node>();
  const ordered: Node[] = [];
  const roots = projects.map((folder) => visit(realpathSync(folder), nodes, ordered, true)).filter((node) => !!node);
  const required = reachable(roots);
  return ordered
    .filter(({ folder }) => /\/node_modules\//.test(folder))
    .map((node) => describe(node, !required.has(node)))
    .filter(({ scripts }) => scripts.length > 0);
}

export function readManifest(folder: string): Manifest | null {
  try {
    const manifest: unknown = JSON.parse(
      readFileSync(path.join(folder, "package.json"), "utf8").replace(/^\uFEFF/, ""),
    );
    return typeof manifest === "object" && manifest !== null ? (manifest as Manifest) : null;
  } catch {
    return null;
  }
}

/** Adds a package and what it depends on to `nodes`, and to `ordered` in the order of their scripts. */
function visit(folder: string, nodes: Map<string, Node>, ordered: Node[], isProject: boolean): Node | null {
  const known = nodes.get(folder);
  if (known) return known;
  const manifest = readManifest(folder);
  if (manifest === null) return null;
  const node: Node = { folder, manifest, required: [], optional: [] };
  nodes.set(folder, node);
  const { dependencies, devDependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest;
  const names = {
    ...dependencies,
    ...(isProject ? devDependencies : {}),
    ...peerDependencies,
    ...optionalDependencies,
  };
  for (const name of Object.keys(names)) {
    const found = findDependency(folder, name);
    const next = found === null ? null : visit(found, nodes, ordered, false);
    if (next === null) continue;
    const isOptional =
      Object.hasOwn(optionalDependencies ?? {}, name) || peerDependenciesMeta?.[name]?.optional === true;
    (isOptional ? node.optional : node.required).push(next);
  }
  ordered.push(node);
  return node;
}

/** The folder of a dependency, as Node.js finds it. */
export function findDependency(from: string, name: string): string | null {
  if (!/^(@[\w~.-]+\/)?[\w~-][\w~.-]*$/.test(name)) return null;
  const folders = ancestorFolders(from).filter((folder) => path.basename(folder) !== "node_modules");
  const found = folders.map((folder) => path.join(folder, "node_modules", name)).find((each) => existsSync(each));
  return found === undefined ? null : realpathSync(found);
}

function reachable(roots: readonly Node[]): Set<Node> {
  const found = new Set(roots);
  for (const node of found) for (const next of node.required) found.add(next);
  return found;
}

function describe({ folder, manifest }: Node, isOptional: boolean): InstalledPackage {
  const { name, version } = manifest;
  return {
    folder,
    name: typeof name === "string" ? name : path.basename(folder),
    version: typeof version === "string" ? version : "",
    manifest,
    scripts: scriptsOf(folder, manifest),
    isOptional,
  };
}

function scriptsOf(folder: string, { scripts = {}, gypfile }: Manifest): [string, string][] {
  const commands = INSTALL_EVENTS.flatMap((event): [string, string][] => {
    const command = scripts[event];
    return typeof command === "string" && command.trim() !== "" ? [[event, command]] : [];
  });
  const isCompiled = gypfile !== false && existsSync(path.join(folder, "binding.gyp"));
  // What package managers run for a package that only has the instructions of node-gyp.
  if (isCompiled && !commands.some(([event]) => event !== "postinstall"))
    commands.unshift(["install", "node-gyp rebuild"]);
  return commands;
}
