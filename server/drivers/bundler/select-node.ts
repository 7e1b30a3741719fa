import path from "node:path";
import { z } from "zod";
import type { PackageRegistry, PackageSession } from "../../ports/package-registry.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { type BuildContext, runBuildStep, say } from "./build-step.ts";
import { isMaintained, readOlderNodes, readWantedNode, type WantedNode } from "./node-version.ts";
import { INSTALL_COMMANDS, npmCommand } from "./package-manager-commands.ts";
import type { PackageLocation } from "./read-project.ts";
import { SANDBOX_PATHS, type Toolchain, toolchainEnvironment } from "./toolchain.ts";

/** The package of Node.js for this processor. It has the program and the headers. */
const NODE_PACKAGE = `node-linux-${process.arch}`;

/** Where a build installs another version of Node.js. It is stored with the dependencies. */
const DOWNLOADED = `${SANDBOX_PATHS.scratch}/node`;
const NODE_FOLDER = `${DOWNLOADED}/node_modules/${NODE_PACKAGE}`;

export interface SelectedNode {
  /** The variables with which `node` is this version. */
  env: Record<string, string>;
  version: string;
  /** Whether it is the version that the project names, or one that it accepts. */
  isWanted: boolean;
  warnings: string[];
}

const TOOLCHAIN_NODE: SelectedNode = { env: {}, version: process.versions.node, isWanted: true, warnings: [] };

/** Returns the version of Node.js that the project names; `null` if the one of the toolchain is good. */
export async function wantedNode(context: BuildContext, location: PackageLocation): Promise<WantedNode | null> {
  const { replacedNode } = context;
  return replacedNode === undefined ? readWantedNode(projectFolders(context, location)) : replacedNode;
}

/** Returns the older versions in which packages may be compiled. See `readOlderNodes`. */
export function olderNodes(context: BuildContext, location: PackageLocation): Promise<number[]> {
  return readOlderNodes(projectFolders(context, location));
}

function projectFolders({ request }: BuildContext, { packageDirectory, installDirectory }: PackageLocation): string[] {
  const folders = new Set([packageDirectory, installDirectory]);
  return [...folders].map((folder) => path.join(request.sourceDirectory, folder));
}

/**
 * Selects the Node.js that runs the scripts of a project: the version that it names if the registry has it, otherwise the one
 * of the toolchain, with a warning.
 */
export async function selectNode(
  context: BuildContext,
  session: PackageSession,
  wanted: WantedNode | null,
): Promise<SelectedNode> {
  if (wanted === null) return TOOLCHAIN_NODE;
  for (const spec of wanted.specs) if (await download(context, session, spec)) return announce(context, wanted);
  const warning = `Node.js ${wanted.specs[0]} (${wanted.source}) is not in the package registry. The build ran with Node.js ${process.versions.node}.`;
  say(context, `warning: ${warning}`);
  return { ...TOOLCHAIN_NODE, isWanted: false, warnings: [warning] };
}

/** Downloads an older version, to compile packages in it. @returns `null` if the registry does not have it */
export async function selectOlderNode(
  context: BuildContext,
  packages: PackageRegistry,
  major: number,
): Promise<SelectedNode | null> {
  await using session = await packages.open(new Set([NODE_PACKAGE]));
  return (await download(context, session, String(major))) ? olderNode(context, major) : null;
}

/** Selects the version that was selected in an earlier build, whose files have been restored. */
export async function selectRestoredNode(context: BuildContext, wanted: WantedNode | null): Promise<SelectedNode> {
  if (wanted !== null) return announce(context, wanted);
  const major = await readRestoredMajor(context);
  return major === null ? TOOLCHAIN_NODE : olderNode(context, major);
}

function olderNode({ toolchain }: BuildContext, major: number): SelectedNode {
  const support = isMaintained({ major }) ? "" : ", which gets no security fixes any more";
  const reason = `A package does not compile for Node.js ${process.versions.node}`;
  const advice = `Update the package, or name this version: "engines": { "node": "${major}" } in package.json.`;
  const warning = `${reason}. The app was built with Node.js ${major} and runs with it${support}. ${advice}`;
  return { env: nodeEnvironment(toolchain), version: String(major), isWanted: true, warnings: [warning] };
}

const manifestSchema = z.object({ version: z.string().regex(/^\d{1,2}\./) });
const MAX_MANIFEST_BYTES = 64 * 1024;

/** The version that an earlier build has downloaded although the project names none. */
async function readRestoredMajor({ scratchDirectory }: BuildContext): Promise<number | null> {
  const folder = path.posix.relative(SANDBOX_PATHS.scratch, NODE_FOLDER);
  try {
    const text = await readUntrusted(path.join(scratchDirectory, folder, "package.json"), MAX_MANIFEST_BYTES);
    return text === null ? null : Number.parseInt(manifestSchema.parse(JSON.parse(text)).version, 10);
  } catch {
    return null;
  }
}

function announce({ toolchain, ...context }: BuildContext, wanted: WantedNode): SelectedNode {
  say({ toolchain, ...context }, `Using Node.js ${wanted.major} (${wanted.source}), from the package registry.`);
  const warnings = isMaintained(wanted)
    ? []
    : [`The build ran with Node.js ${wanted.major} (${wanted.source}), which gets no security fixes any more.`];
  return {
    env: nodeEnvironment(toolchain),
    version: `${wanted.major} (${wanted.source})`,
    isWanted: true,
    warnings,
  };
}

function nodeEnvironment(toolchain: Toolchain): Record<string, string> {
  return {
    PATH: `${NODE_FOLDER}/bin:${toolchainEnvironment(toolchain)["PATH"]}`,
    BUILD_NODE: `${NODE_FOLDER}/bin/node`,
    npm_config_nodedir: NODE_FOLDER,
  };
}

async function download(context: BuildContext, session: PackageSession, version: string): Promise<boolean> {
  const options = ["--prefix", DOWNLOADED, "--no-save", "--no-package-lock", "--silent"];
  const { code } = await runBuildStep(context, {
    name: "install",
    argv: npmCommand("install", ...options, `${NODE_PACKAGE}@${version}`),
    env: INSTALL_COMMANDS.npm.env(session.registryUrl),
    network: { kind: "proxy", socketPath: session.socketPath },
  });
  return code === 0;
}
