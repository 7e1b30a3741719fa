import { readFile } from "node:fs/promises";
import path from "node:path";
import type { PackageSession } from "../../../domain/ports/package-source.ts";
import { type BuildContext, runBuildStep } from "./build-step.ts";
import type { PackageManager } from "./detect-package-manager.ts";
import { INSTALL_COMMANDS, npmCommand } from "./package-manager-commands.ts";
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
  bun: { title: "Bun", packageName: BUN_PACKAGE, program: "bin/bun", variable: "TOOLCHAIN_BUN" },
};

const DOWNLOADED = `${SANDBOX_PATHS.scratch}/tools`;

/** The variables of every step of a project that this package manager manages, with the version of the toolchain. */
export function toolEnvironment(packageManager: PackageManager): Record<string, string> {
  const tool = TOOLS[packageManager];
  const selected = tool ? { [tool.variable]: `${SANDBOX_PATHS.modules}/${tool.packageName}/${tool.program}` } : {};
  return { ...selected, ...INSTALL_COMMANDS[packageManager].buildEnv };
}

/**
 * Selects the version of Bun or Yarn for a project: the one that it names if the registry has it, otherwise the one of the
 * toolchain. The build log says which. The version of npm, pnpm and Yarn 1 is always that of the toolchain.
 *
 * @returns the variables that select it
 */
export async function selectTool(
  context: BuildContext,
  session: PackageSession,
  { packageManager, requestedVersion, rootEntries }: Project,
): Promise<Record<string, string>> {
  const tool = TOOLS[packageManager];
  if (tool === undefined) return {};
  const { title } = tool;
  const bundled = await readBundledVersion(context, tool);
  const requested = isConverted(rootEntries) ? null : requestedVersion;
  const wanted = requested ?? bundled ?? "latest";
  if (wanted === bundled) {
    say(context, `Using ${title} ${bundled}.`);
    return {};
  }
  if (await download(context, session, `${tool.packageName}@${wanted}`)) {
    say(context, `Using ${title} ${wanted}, from the package registry.`);
    return { [tool.variable]: `${DOWNLOADED}/node_modules/${tool.packageName}/${tool.program}` };
  }
  say(context, `${title} ${wanted} could not be installed from the package registry. Using ${title} ${bundled}.`);
  return {};
}

/** Whether the lockfile of Bun is the binary one, which the version of the toolchain converts. */
export function isConverted(rootEntries: ReadonlySet<string>): boolean {
  return rootEntries.has("bun.lockb") && !rootEntries.has("bun.lock");
}

async function readBundledVersion({ toolchain }: BuildContext, { packageName }: Tool): Promise<string | null> {
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

function say({ request }: BuildContext, line: string): void {
  request.onOutput(Buffer.from(`${line}\n`));
}
