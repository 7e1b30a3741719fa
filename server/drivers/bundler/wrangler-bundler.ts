import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Bundle, Bundler, BundleRequest } from "../../../domain/ports/bundler.ts";
import type { Sandbox } from "../../../domain/ports/sandbox.ts";
import type { PackageSource } from "../../../domain/ports/package-source.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { copyAssets } from "./copy-assets.ts";
import { build } from "./run-build-script.ts";
import { bundleScript } from "./bundle-script.ts";
import { install } from "./install-packages.ts";
import { readProject } from "./read-project.ts";
import type { BuildContext, StepLimits } from "./build-step.ts";
import type { Toolchain } from "./toolchain.ts";

export interface WranglerBundlerOptions {
  sandbox: Sandbox;
  packages: PackageSource;
  /** A `node_modules` folder with npm, pnpm, yarn, wrangler and the framework detection: that of this project. */
  modulesDirectory: string;
  /** A folder that `npm run setup` fills to make builds faster; they do without when it is absent. */
  compileCacheDirectory?: string;
  limits?: Partial<StepLimits>;
}

const COMMON = {
  memoryMb: 2048,
  processes: 512,
  fileSizeMb: 1024,
  diskMb: 2048,
  outputBytes: 16 * 1024 * 1024,
} as const;

export const DEFAULT_LIMITS: StepLimits = {
  install: { ...COMMON, wallTimeMs: 5 * 60_000 },
  build: { ...COMMON, wallTimeMs: 10 * 60_000 },
  bundling: { ...COMMON, wallTimeMs: 2 * 60_000 },
};

/**
 * Bundles with npm, pnpm or Yarn 1 and with wrangler, each step in a sandbox of its own. An app that has nothing to
 * install and to build takes one sandbox and one process.
 */
export class WranglerBundler implements Bundler {
  readonly #options: WranglerBundlerOptions;

  constructor(options: WranglerBundlerOptions) {
    this.#options = options;
  }

  async bundle(request: BundleRequest): Promise<Bundle> {
    const scratchDirectory = path.join(request.outputDirectory, "scratch");
    await mkdir(scratchDirectory);
    try {
      return await this.#bundle(request, scratchDirectory);
    } finally {
      await removeTree(scratchDirectory);
    }
  }

  async #bundle(request: BundleRequest, scratchDirectory: string): Promise<Bundle> {
    const { sandbox, packages } = this.#options;
    const limits = { ...DEFAULT_LIMITS, ...this.#options.limits };
    const context: BuildContext = { sandbox, toolchain: this.#toolchain(), limits, request, scratchDirectory };
    const project = await readProject(request.sourceDirectory);
    if (project.needsInstall) await install(context, packages, project);
    await build(context, project);
    const { assets, ...script } = await bundleScript(context);
    return {
      ...script,
      assets: assets && { directory: await takeAssets(request, assets), rules: assets.rules },
    };
  }

  #toolchain(): Toolchain {
    const { modulesDirectory, compileCacheDirectory = "" } = this.#options;
    return {
      modulesDirectory,
      compileCacheDirectory: existsSync(compileCacheDirectory) ? compileCacheDirectory : null,
    };
  }
}

async function takeAssets(
  { sourceDirectory, outputDirectory, onOutput }: BundleRequest,
  { directory, leftOut }: { directory: string; leftOut: readonly string[] },
): Promise<string> {
  const destination = path.join(outputDirectory, "assets");
  const onSkipped = (file: string) =>
    onOutput(Buffer.from(`Left out ${file}: only files and folders are published.\n`));
  await copyAssets({ sourceDirectory, directory, destination, leftOut: new Set(leftOut), onSkipped });
  return destination;
}
