import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { BuiltBundle, Bundler, BundleRequest, Dependency } from "../../../domain/ports/bundler.ts";
import { removeTree } from "../../files/remove-tree.ts";
import type { PackageRegistry } from "../../ports/package-registry.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { TemporaryDatabases } from "../../ports/postgres.ts";
import { addDependency } from "./add-dependency.ts";
import { type BuildContext, type BuildEgressOptions, say, type StepLimits } from "./build-step.ts";
import { type BundledApp, bundleApp } from "./bundle-script.ts";
import { copyAssets } from "./copy-assets.ts";
import type { DependencyStore } from "./dependencies/dependency-store.ts";
import { NeedsOlderNode, NodeRefused } from "./failures/explain-build.ts";
import { type Installed, installPackages } from "./install-packages.ts";
import { installSvelteAdapter } from "./install-svelte-adapter.ts";
import { locatePackage, requireFolder } from "./locate-package.ts";
import { asNodeServer, type Project, readProject } from "./read-project.ts";
import { runBuildScript, runPackageScript } from "./run-build-script.ts";
import type { WantedNode } from "./node-version.ts";
import { olderNodes, wantedNode } from "./select-node.ts";
import { packageManagerEnvironment } from "./select-package-manager.ts";
import type { Toolchain } from "./toolchain.ts";
import { listPackages } from "./workspace-packages.ts";

export interface WranglerBundlerOptions {
  sandbox: Sandbox;
  packages: PackageRegistry;
  /** A `node_modules` folder with npm, pnpm, Yarn, Bun, wrangler and the framework detection. */
  modulesDirectory: string;
  /** The folder that `fillCompileCache` fills. Builds are slower when it does not exist. */
  compileCacheDirectory?: string;
  /** Which hosts build scripts may connect to; by default none. */
  egress?: BuildEgressOptions | null;
  /** Where builds store installed dependencies for later builds; by default they do not. */
  dependencies?: DependencyStore | null;
  /** Databases for build scripts; by default they have none. */
  databases?: TemporaryDatabases | null;
  limits?: Partial<StepLimits>;
}

const COMMON_LIMITS = {
  memoryMb: 2048,
  processes: 512,
  fileSizeMb: 1024,
  diskMb: 2048,
  outputBytes: 16 * 1024 * 1024,
} as const;

export const DEFAULT_LIMITS: StepLimits = {
  install: { ...COMMON_LIMITS, wallTimeMs: 5 * 60_000 },
  build: { ...COMMON_LIMITS, wallTimeMs: 10 * 60_000 },
  bundle: { ...COMMON_LIMITS, wallTimeMs: 2 * 60_000 },
};

interface BuildSizes {
  memoryMb: number;
  diskMb: number;
}

/** The limits of the steps of a build. */
export function stepLimits(limits: BuildSizes & { installTimeoutMs: number; buildTimeoutMs: number }): StepLimits {
  const { memoryMb, diskMb, installTimeoutMs, buildTimeoutMs } = limits;
  return {
    install: { ...DEFAULT_LIMITS.install, memoryMb, diskMb, wallTimeMs: installTimeoutMs },
    build: { ...DEFAULT_LIMITS.build, memoryMb, diskMb, wallTimeMs: buildTimeoutMs },
    bundle: { ...DEFAULT_LIMITS.bundle, memoryMb, diskMb },
  };
}

/**
 * Installs with npm, pnpm, Yarn or Bun and bundles with wrangler. Each step runs in a sandbox of its own. An app without
 * dependencies and build script needs one sandbox and one process.
 */
export class WranglerBundler implements Bundler {
  readonly #options: WranglerBundlerOptions;

  constructor(options: WranglerBundlerOptions) {
    this.#options = options;
  }

  bundle(request: BundleRequest): Promise<BuiltBundle> {
    return this.#withProject(request, (start, project) => this.#runSteps(start, project));
  }

  runScript(request: BundleRequest, script: string): Promise<boolean> {
    return this.#withProject(request, async (start, project) => {
      const { context } = await this.#install(start, project);
      return runPackageScript(context, project, script);
    });
  }

  addDependency(request: BundleRequest, dependency: Dependency): Promise<void> {
    const { packages } = this.#options;
    return this.#withProject(request, (start, project) => addDependency(start, packages, project, dependency));
  }

  async #withProject<T>(
    request: BundleRequest,
    use: (start: BuildContext, project: Project) => Promise<T>,
  ): Promise<T> {
    const { sandbox, egress = null, dependencies = null, databases = null } = this.#options;
    const scratchDirectory = path.join(request.outputDirectory, "scratch");
    await mkdir(scratchDirectory);
    try {
      const limits = { ...DEFAULT_LIMITS, ...this.#options.limits };
      const stores = { dependencies, databases };
      const base = { sandbox, toolchain: this.#toolchain(), limits, request, egress, ...stores, scratchDirectory };
      const location = await locatePackage(request, (root) => listPackages({ ...base, env: {} }, root));
      const found = await readProject(request.sourceDirectory, location);
      const project = request.runtime === "node" ? asNodeServer(found) : found;
      return await use({ ...base, env: packageManagerEnvironment(project.packageManager) }, project);
    } finally {
      await removeTree(scratchDirectory);
    }
  }

  async #runSteps(start: BuildContext, project: Project): Promise<BuiltBundle> {
    const { request } = start;
    const { context, warnings } = await this.#build(start, project).catch((error: unknown) =>
      this.#buildWithOtherNode(start, project, error),
    );
    const { packageDirectory: rootDirectory } = project.location;
    await request.onStep?.("bundle");
    const { assets, ...script } = await bundleApp(context, rootDirectory);
    // The build may have replaced the folder by a link. Whoever reads from it next does so outside the sandbox.
    await requireFolder(request.sourceDirectory, rootDirectory);
    const copied = assets && { directory: await copyTo(request, rootDirectory, assets), rules: assets.rules };
    return { ...script, warnings: [...warnings, ...script.warnings], assets: copied, rootDirectory };
  }

  async #build(start: BuildContext, project: Project): Promise<Installed> {
    const installed = await this.#install(start, project);
    if (project.needsSvelteAdapter) await installSvelteAdapter(installed.context, this.#options.packages, project);
    await runBuildScript(installed.context, project);
    return installed;
  }

  /** Builds again with another version of Node.js if the version is why a build failed. */
  async #buildWithOtherNode(start: BuildContext, project: Project, error: unknown): Promise<Installed> {
    const found = await otherNode(start, project, error);
    if (found === null) throw error;
    say(start, `warning: ${found.warning}`);
    await removePackages(start, project);
    const installed = await this.#build({ ...start, replacedNode: found.node }, project);
    return { ...installed, warnings: [found.warning, ...installed.warnings] };
  }

  async #install(context: BuildContext, project: Project): Promise<Installed> {
    if (!project.needsInstall) return { context, warnings: [] };
    await context.request.onStep?.("install");
    return installPackages(context, this.#options.packages, project);
  }

  #toolchain(): Toolchain {
    const { modulesDirectory, compileCacheDirectory } = this.#options;
    const hasCache = compileCacheDirectory !== undefined && existsSync(compileCacheDirectory);
    return { modulesDirectory, compileCacheDirectory: hasCache ? compileCacheDirectory : null };
  }
}

/**
 * Removes what an install has left. Native programs of packages are those of the version of Node.js that installed them, and a package
 * from the cache of a package manager does not run its install script, because the registry has not served it.
 */
async function removePackages(
  { request, scratchDirectory }: BuildContext,
  { location, nestedPackages }: Project,
): Promise<void> {
  await removeTree(scratchDirectory);
  await mkdir(scratchDirectory);
  const isFolder = (folder: string) =>
    requireFolder(request.sourceDirectory, folder).then(
      () => true,
      () => false,
    );
  for (const folder of nestedPackages)
    if (await isFolder(folder)) await removeTree(path.join(request.sourceDirectory, folder, "node_modules"));
  for (const folder of new Set([location.installDirectory, location.packageDirectory])) {
    // The failed build may have replaced it by a link.
    await requireFolder(request.sourceDirectory, folder);
    await removeTree(path.join(request.sourceDirectory, folder, "node_modules"));
  }
}

interface OtherNode {
  /** `null` for the version of the service. */
  node: WantedNode | null;
  warning: string;
}

/** Returns the version of Node.js with which a failed build may succeed: the one of the service if a tool refuses an older one. */
async function otherNode(start: BuildContext, { location }: Project, error: unknown): Promise<OtherNode | null> {
  const own = process.versions.node;
  if (error instanceof NodeRefused) {
    const wanted = await wantedNode(start, location);
    if (wanted === null || wanted.major > Number.parseInt(own, 10)) return null;
    const { major, source } = wanted;
    const warning = `A tool refuses Node.js ${major} (${source}): ${error.reason} The app was built with Node.js ${own} and runs with it. Correct the version in ${source}.`;
    return { node: null, warning };
  }
  if (!(error instanceof NeedsOlderNode)) return null;
  const major = (await olderNodes(start, location)).find((each) => each <= error.newest);
  if (major === undefined) return null;
  const warning = `The build failed with Node.js ${own}: ${error.reason} The app was built with Node.js ${major} and runs with it. ${error.advice}`;
  return { node: { specs: [String(major)], major, source: "after the failure" }, warning };
}

/** Copies the static files to the output folder and returns the path of the copy. */
async function copyTo(
  { sourceDirectory, outputDirectory, onOutput }: BundleRequest,
  rootDirectory: string,
  { directory: relativeDirectory, ignored }: NonNullable<BundledApp["assets"]>,
): Promise<string> {
  const directory = path.isAbsolute(relativeDirectory)
    ? relativeDirectory
    : path.join(rootDirectory, relativeDirectory);
  const destination = path.join(outputDirectory, "assets");
  const onSkipped = (file: string) =>
    onOutput(Buffer.from(`Skipped ${file}: only regular files and folders are published.\n`));
  await copyAssets({ sourceDirectory, directory, destination, ignored: new Set(ignored), onSkipped });
  return destination;
}
