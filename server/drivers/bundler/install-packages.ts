import { existsSync } from "node:fs";
import path from "node:path";
import type { PackageRegistry, PackageSession, ServedPackages } from "../../ports/package-registry.ts";
import { adjustNpmrc } from "./adjust-npmrc.ts";
import { type BuildContext, type BuildStep, runBuildStep, say, type StepResult } from "./build-step.ts";
import {
  type BuildEntries,
  type DependencyEntry,
  describeDependencies,
  LOCKFILES,
} from "./dependencies/dependency-entry.ts";
import { restoreDependencies, storeDependencies } from "./dependencies/reuse-dependencies.ts";
import type { PackageManager } from "./detect-package-manager.ts";
import { readBinaryLockfile } from "./binary-lockfile.ts";
import { findForeignPackages } from "./find-foreign-packages.ts";
import { explainInstallFailure } from "./failures/explain-install.ts";
import { compilePackages } from "./install-scripts/compile-in-older-node.ts";
import { hasProjectScripts, installedFolders, needsPackageScripts } from "./install-scripts/needs-scripts.ts";
import { afterFailedDownload, allowsEngines, prepareEngines } from "./install-scripts/prisma-engines.ts";
import { runProjectScripts } from "./install-scripts/run-install-scripts.ts";
import { INSTALL_COMMANDS, npmCommand } from "./package-manager-commands.ts";
import { findPackageNames, readProjectTexts } from "./read-package-names.ts";
import { type PackageLocation, type Project, readProject } from "./read-project.ts";
import { type InstallTarget, type RelaxedInstall, relaxInstall } from "./relax-install.ts";
import { selectNode, selectRestoredNode, wantedNode } from "./select-node.ts";
import {
  isConverted,
  packageManagerEnvironment,
  selectPackageManager,
  selectRestoredPackageManager,
} from "./select-package-manager.ts";
import { toSingleLine } from "./single-line.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";
import { trustCertificate } from "./trust-certificate.ts";

/** What an install left for the following steps. */
export interface Installed {
  /** Their context: they run the same version of the package manager. */
  context: BuildContext;
  /** Problems that do not prevent a deployment, each in one line. */
  warnings: string[];
}

/**
 * Installs the project's dependencies, or uses those that an earlier build of the organization stored. The install can reach
 * only the package source, and runs no scripts. Then the scripts of the packages run, unless an earlier build of the app has
 * stored what they created, and then those of the project.
 *
 * @throws {BuildFailure} `user` when the dependencies cannot be installed or a script fails, `platform` when the registry
 *   does not respond
 */
export async function installPackages(
  context: BuildContext,
  packages: PackageRegistry,
  project: Project,
): Promise<Installed> {
  const entries = await describeDependencies(context, project);
  const fetched = await fetchPackages(context, packages, project, entries);
  const { served } = fetched;
  let engines = await prepareEngines(context, packages, served, fetched.haveScriptsRun);
  let selected: BuildContext = { ...fetched.selected, env: { ...fetched.selected.env, ...engines.env } };
  const warnings = [...fetched.warnings];
  if (!fetched.haveScriptsRun && needsPackageScripts(served)) {
    const { node, ...run } = await compilePackages(selected, packages, project, served);
    if (node !== null) selected = { ...selected, env: { ...selected.env, ...node.env }, nodeVersion: node.version };
    warnings.push(...(node?.warnings ?? []), ...run.warnings);
    if (run.lacksEngines && allowsEngines(context) && !engines.isIncomplete) engines = afterFailedDownload(served);
    selected = { ...selected, env: { ...selected.env, ...engines.env } };
    const isComplete = fetched.isStored && run.warnings.length === 0 && !run.wroteOutside && !engines.isIncomplete;
    const { withScripts = null } = entries ?? {};
    if (withScripts !== null && isComplete) await store(selected, withScripts, served);
  }
  if (await hasProjectScripts(context.request.sourceDirectory, project))
    warnings.push(...(await runProjectScripts(selected, packages, project, served)).warnings);
  const env = { ...selected.env, ...installedFolders(project) };
  return { context: { ...selected, env }, warnings: [...warnings, ...engines.warnings] };
}

interface FetchedPackages {
  selected: BuildContext;
  served: ServedPackages;
  /** Whether the scripts of the packages have run in an earlier build. */
  haveScriptsRun: boolean;
  /** Whether the install depends on nothing but what the keys of the entries contain. */
  isStored: boolean;
  warnings: string[];
}

/** Puts the packages into the checkout: those of the app's own entry, those of the organization's entry, or by an install. */
async function fetchPackages(
  context: BuildContext,
  packages: PackageRegistry,
  project: Project,
  entries: BuildEntries | null,
): Promise<FetchedPackages> {
  for (const entry of entries === null ? [] : [entries.withScripts, entries.installed]) {
    const served = entry && context.dependencies && (await restoreDependencies(context, context.dependencies, entry));
    if (!served) continue;
    const node = await selectRestoredNode(context, await wantedNode(context, project.location));
    const { env } = await selectRestoredPackageManager(context, project);
    const selected = { ...context, env: { ...context.env, ...node.env, ...env }, nodeVersion: node.version };
    return {
      selected,
      served,
      warnings: node.warnings,
      isStored: true,
      haveScriptsRun: entry === entries?.withScripts,
    };
  }
  const { isWanted, ...installed } = await installAll(context, packages, project);
  if (isWanted && entries !== null) await store(installed.selected, entries.installed, installed.served);
  return { ...installed, isStored: isWanted, haveScriptsRun: false };
}

/** Installs the packages of a project, after those of the folders that its scripts use. No code of the project runs. */
async function installAll(context: BuildContext, packages: PackageRegistry, project: Project): Promise<InstallResult> {
  const { sourceDirectory } = context.request;
  const results: InstallResult[] = [];
  for (const folder of project.nestedPackages) {
    say(context, `Installing the packages of ${toSingleLine(folder)}.`);
    const location = { packageDirectory: folder, installDirectory: folder, isMember: false, buildFirst: [] };
    const nested = await readProject(sourceDirectory, location);
    // Scripts run later, with the Node.js of the project.
    const start = { ...context, env: packageManagerEnvironment(nested.packageManager), replacedNode: null };
    results.push(await install(start, packages, nested));
  }
  const own = await install(context, packages, project);
  results.push(own);
  return {
    selected: own.selected,
    warnings: results.flatMap(({ warnings }) => warnings),
    served: {
      packages: new Set(results.flatMap(({ served }) => [...served.packages])),
      withScripts: new Set(results.flatMap(({ served }) => [...served.withScripts])),
    },
    isWanted: results.every(({ isWanted }) => isWanted),
  };
}

interface InstallResult {
  selected: BuildContext;
  warnings: string[];
  served: ServedPackages;
  /** Whether the packages are those that the lockfiles and the settings name. */
  isWanted: boolean;
}

async function store(context: BuildContext, entry: DependencyEntry, served: ServedPackages): Promise<void> {
  if (context.dependencies !== null) await storeDependencies(context, context.dependencies, entry, served);
}

async function install(context: BuildContext, packages: PackageRegistry, given: Project): Promise<InstallResult> {
  const { project, warnings: unread } = await readBinaryLockfile(context, given);
  const { packageManager, rootEntries, location } = project;
  const { argv, env } = INSTALL_COMMANDS[packageManager];
  const directory = path.join(context.request.sourceDirectory, location.installDirectory);
  const { registry = null } = context.request;
  const sources = await readProjectTexts(directory);
  await using session = await packages.open(await findPackageNames(sources), { sources, registry });
  const node = await selectNode(context, session, await wantedNode(context, location));
  const tool = await selectPackageManager(context, session, project);
  const selected = { ...context, env: { ...context.env, ...node.env, ...tool.env }, nodeVersion: node.version };
  const npmrc = await adjustNpmrc(directory, session.registryUrl, registry);
  const trust = trustCertificate(session);
  const options = packageManager === "npm" ? npmrc.npmOptions : [];
  const step = {
    name: "install",
    directory: location.installDirectory,
    env: { ...npmrc.env, ...env(session.registryUrl), ...trust.env },
    mounts: trust.mounts,
    network: { kind: "proxy", socketPath: session.socketPath },
  } as const;
  const run = (argv: readonly [string, ...string[]]) =>
    runBuildStep(selected, { ...step, argv: [...withRemote(packageManager, session, argv), ...options] });
  const target = {
    registryUrl: session.registryUrl,
    member: memberOf(location),
    locksPeers: sources.some((text) => /"peer": true/.test(text)),
  };
  const { isIncomplete, relaxed } = await runInstalls({ context, session, project, directory, target, run });
  const isPlugged =
    packageManager === "yarn-berry" && needsPackageScripts(session.served()) && usesPlugAndPlay(directory);
  const linked = isPlugged ? { ...selected, env: { ...selected.env, ...NODE_MODULES } } : selected;
  if (isPlugged)
    await installToNodeModules(linked, session, {
      ...step,
      argv: argv(rootEntries, target.registryUrl, target.member),
    });
  const isExact = !isIncomplete && relaxed.length === 0 && !isPlugged && node.isWanted && tool.isWanted;
  const warnings = [
    ...unread,
    ...node.warnings,
    ...relaxed.map(({ warning }) => warning),
    ...(isPlugged ? [PLUG_AND_PLAY_WARNING] : []),
  ];
  return { selected: linked, warnings, served: session.served(), isWanted: isExact };
}

/** Install scripts need a folder for their package, which Plug'n'Play has not. */
const NODE_MODULES = { YARN_NODE_LINKER: "node-modules" } as const;
const PLUG_AND_PLAY_WARNING =
  "Packages with install scripts do not run from the archives of Plug'n'Play, so they were installed to node_modules. Add `nodeLinker: node-modules` to .yarnrc.yml.";

async function installToNodeModules(context: BuildContext, session: PackageSession, step: BuildStep): Promise<void> {
  const { code, output } = await runBuildStep(context, step);
  if (code !== 0) throw explainInstallFailure("yarn-berry", session.report(), output.lines());
}

interface InstallRun {
  context: BuildContext;
  session: PackageSession;
  project: Project;
  directory: string;
  target: InstallTarget;
  run(argv: readonly [string, ...string[]]): Promise<StepResult>;
}

/** Installs, and after a failure without the check that failed. @throws {BuildFailure} */
async function runInstalls({ context, session, project, directory, target, run }: InstallRun): Promise<{
  isIncomplete: boolean;
  relaxed: RelaxedInstall[];
}> {
  const { packageManager, rootEntries } = project;
  const { argv } = INSTALL_COMMANDS[packageManager];
  const first = await run(argv(rootEntries, target.registryUrl, target.member));
  const isIncomplete = lacksUnpublished(packageManager, first);
  const relaxed: RelaxedInstall[] = [];
  let last = isIncomplete ? await run(npmCommand("install")) : first;
  while (last.code !== 0) {
    const next = hasLockfile(project)
      ? relaxInstall(packageManager, last.output.lines(), relaxed, target, session.report().missing)
      : null;
    if (next === null)
      throw explainInstallFailure(
        packageManager,
        session.report(),
        last.output.lines(),
        await findForeignPackages(directory),
      );
    say(context, `warning: ${next.warning}`);
    relaxed.push(next);
    last = await run(next.argv);
  }
  return { isIncomplete, relaxed };
}

function usesPlugAndPlay(directory: string): boolean {
  return existsSync(path.join(directory, ".pnp.cjs"));
}

/** The same install. For npm, with a script that prepares dependencies outside of the registry. */
function withRemote(
  packageManager: PackageManager,
  { certificateFile, registryUrl }: PackageSession,
  argv: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  if (packageManager !== "npm" || certificateFile === null) return argv;
  return [SANDBOX_PATHS.node, `${SANDBOX_PATHS.scripts}/run-npm.ts`, registryUrl, ...argv.slice(1)];
}

function hasLockfile({ packageManager, rootEntries }: Project): boolean {
  return LOCKFILES[packageManager].some((name) => rootEntries.has(name)) || isConverted(rootEntries);
}

/**
 * Whether `npm ci` failed only because the lockfile lacks optional packages that the registry does not have, for example for
 * another system. `npm install` leaves them out of a lockfile and accepts it, but `npm ci` refuses it.
 */
function lacksUnpublished(packageManager: PackageManager, { code, output }: StepResult): boolean {
  if (packageManager !== "npm" || code === 0) return false;
  const missing = output.lines().filter((line) => /^npm error (Missing|Invalid): /.test(line));
  // npm could not read the version of such a package.
  return missing.length > 0 && missing.every((line) => /^npm error Missing: \S+@ from lock file$/.test(line));
}

/** The path of a package in its workspace; `null` for a package outside of workspaces. */
function memberOf({ packageDirectory, installDirectory, isMember }: PackageLocation): string | null {
  return isMember ? path.relative(installDirectory, packageDirectory) : null;
}
