import { readFile } from "node:fs/promises";
import path from "node:path";
import type { PackageSession } from "../../ports/package-registry.ts";
import { type BuildContext, runBuildStep, say } from "./build-step.ts";
import type { PackageManager } from "./detect-package-manager.ts";
import { INSTALL_COMMANDS, npmCommand } from "./package-manager-commands.ts";
import { BUNDLED_PNPM } from "./package-manager-version.ts";
import type { Project } from "./read-project.ts";
import { BUN_PACKAGE, SANDBOX_PATHS } from "./toolchain.ts";

/** A package manager of which a build can run the version that a project names. */
interface Tool {
  title: string;
  /** Its package in the registry. */
  packageName: string;
  /** The program, in the folder of the package. */
  program: string;
  /** The variable with the path of the program, which the command in `inside/bin` starts. */
  variable: string;
}

const TOOLS: Readonly<Partial<Record<PackageManager, Tool>>> = {
  "yarn-berry": {
    title: "Yarn",
    packageName: "@yarnpkg/cli-dist",
    program: "bin/yarn.js",
    variable: "TOOLCHAIN_YARN",
  },
  pnpm: { title: "pnpm", packageName: "pnpm", program: "bin/pnpm.cjs", variable: "TOOLCHAIN_PNPM" },
  bun: { title: "Bun", packageName: BUN_PACKAGE, program: "bin/bun", variable: "TOOLCHAIN_BUN" },
};

function toolOf({ packageManager, requestedVersion }: Project): Tool | undefined {
  const tool = TOOLS[packageManager];
  if (tool === undefined || packageManager !== "pnpm") return tool;
  const major = Number.parseInt(requestedVersion ?? "10", 10);
  if (major >= BUNDLED_PNPM.first && major <= BUNDLED_PNPM.last) return undefined;
  return major > BUNDLED_PNPM.last ? { ...tool, program: "bin/pnpm.mjs" } : tool;
}

const DOWNLOADED = `${SANDBOX_PATHS.scratch}/tools`;

/** The variables of every step of a project that this package manager manages, with the version of the toolchain. */
export function packageManagerEnvironment(packageManager: PackageManager): Record<string, string> {
  const tool = TOOLS[packageManager];
  const selected = tool ? { [tool.variable]: `${SANDBOX_PATHS.modules}/${tool.packageName}/${tool.program}` } : {};
  return { ...selected, ...INSTALL_COMMANDS[packageManager].buildEnv };
}

/** The version of a package manager that a build runs. */
interface ToolVersion {
  wanted: string;
  /** The version of the toolchain. */
  bundled: string | null;
}

/** The package manager that a build runs. */
export interface SelectedPackageManager {
  /** The variables that select it. */
  env: Record<string, string>;
  /** Whether it is the version that the project names, or the project names none. */
  isWanted: boolean;
}

/**
 * Selects the version of Bun, Yarn or pnpm for a project: the one that it names if the registry has it, otherwise the one of the
 * toolchain. The build log says which. The version of npm, Yarn 1 and pnpm 9 and 10 is always that of the toolchain.
 */
export async function selectPackageManager(
  context: BuildContext,
  session: PackageSession,
  project: Project,
): Promise<SelectedPackageManager> {
  const tool = toolOf(project);
  if (tool === undefined) return { env: {}, isWanted: true };
  const { wanted, bundled } = await toolVersion(context, tool, project);
  if (wanted === bundled || (await download(context, session, `${tool.packageName}@${wanted}`)))
    return announce(context, tool, { wanted, bundled });
  const { title } = tool;
  say(context, `${title} ${wanted} could not be installed from the package registry. Using ${title} ${bundled}.`);
  return { env: {}, isWanted: false };
}

/** Selects the version that `selectPackageManager` selected in an earlier build, whose downloaded files have been restored. */
export async function selectRestoredPackageManager(
  context: BuildContext,
  project: Project,
): Promise<SelectedPackageManager> {
  const tool = toolOf(project);
  if (tool === undefined) return { env: {}, isWanted: true };
  return announce(context, tool, await toolVersion(context, tool, project));
}

/** The version of its package manager that a project is installed with, if the registry has it. */
export async function wantedVersion(context: BuildContext, project: Project): Promise<string | null> {
  const tool = toolOf(project);
  if (tool !== undefined) return (await toolVersion(context, tool, project)).wanted;
  return readBundledVersion(context, { packageName: project.packageManager });
}

async function toolVersion(
  context: BuildContext,
  tool: Tool,
  { requestedVersion, rootEntries }: Project,
): Promise<ToolVersion> {
  const bundled = await readBundledVersion(context, tool);
  const requested = isConverted(rootEntries) ? null : requestedVersion;
  return { wanted: requested ?? bundled ?? "latest", bundled };
}

function announce(
  context: BuildContext,
  { title, variable, packageName, program }: Tool,
  { wanted, bundled }: ToolVersion,
): SelectedPackageManager {
  if (wanted === bundled) {
    say(context, `Using ${title} ${bundled}.`);
    return { env: {}, isWanted: true };
  }
  say(context, `Using ${title} ${wanted}, from the package registry.`);
  return { env: { [variable]: `${DOWNLOADED}/node_modules/${packageName}/${program}` }, isWanted: true };
}

/** Whether the lockfile of Bun is the binary one, which the version of the toolchain converts. */
export function isConverted(rootEntries: ReadonlySet<string>): boolean {
  return rootEntries.has("bun.lockb") && !rootEntries.has("bun.lock");
}

async function readBundledVersion(
  { toolchain }: BuildContext,
  { packageName }: Pick<Tool, "packageName">,
): Promise<string | null> {
  const file = path.join(toolchain.modulesDirectory, packageName, "package.json");
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as { version: string }).version;
}

async function download(context: BuildContext, session: PackageSession, spec: string): Promise<boolean> {
  const { code } = await runBuildStep(context, {
    name: "install",
    argv: [...npmCommand("install"), "--prefix", DOWNLOADED, "--no-save", "--no-package-lock", "--silent", spec],
    env: INSTALL_COMMANDS.npm.env(session.registryUrl),
    network: { kind: "proxy", socketPath: session.socketPath },
  });
  return code === 0;
}
