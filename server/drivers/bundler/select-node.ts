import path from "node:path";
import type { PackageSession } from "../../ports/package-registry.ts";
import { type BuildContext, runBuildStep, say } from "./build-step.ts";
import { isMaintained, readWantedNode, type WantedNode } from "./node-version.ts";
import { INSTALL_COMMANDS, npmCommand } from "./package-manager-commands.ts";
import type { PackageLocation } from "./read-project.ts";
import { SANDBOX_PATHS, toolchainEnvironment } from "./toolchain.ts";

/** The package of Node.js for this processor. It has the program and the headers. */
const NODE_PACKAGE = `node-linux-${process.arch}`;

/** Where a build installs another version of Node.js. It is stored with the dependencies. */
const DOWNLOADED = `${SANDBOX_PATHS.scratch}/node`;

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
export function wantedNode({ request }: BuildContext, location: PackageLocation): Promise<WantedNode | null> {
  const folders = new Set([location.packageDirectory, location.installDirectory]);
  return readWantedNode([...folders].map((folder) => path.join(request.sourceDirectory, folder)));
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

/** Selects the version that `selectNode` selected in an earlier build, whose files have been restored. */
export function selectRestoredNode(context: BuildContext, wanted: WantedNode | null): SelectedNode {
  return wanted === null ? TOOLCHAIN_NODE : announce(context, wanted);
}

function announce({ toolchain, ...context }: BuildContext, wanted: WantedNode): SelectedNode {
  say({ toolchain, ...context }, `Using Node.js ${wanted.major} (${wanted.source}), from the package registry.`);
  const folder = `${DOWNLOADED}/node_modules/${NODE_PACKAGE}`;
  const warnings = isMaintained(wanted)
    ? []
    : [`The build ran with Node.js ${wanted.major} (${wanted.source}), which gets no security fixes any more.`];
  return {
    env: {
      PATH: `${folder}/bin:${toolchainEnvironment(toolchain)["PATH"]}`,
      BUILD_NODE: `${folder}/bin/node`,
      npm_config_nodedir: folder,
    },
    version: `${wanted.major} (${wanted.source})`,
    isWanted: true,
    warnings,
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
