import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import type { BundleRequest } from "../../../domain/ports/bundler.ts";
import type { PackageRegistry } from "../../../server/ports/package-registry.ts";
import { TOOLCHAIN_FOLDERS } from "../../../server/composition/bundler.ts";
import type { BuildContext } from "../../../server/drivers/bundler/build-step.ts";
import type { DependencyStore } from "../../../server/drivers/bundler/dependencies/dependency-store.ts";
import { installPackages } from "../../../server/drivers/bundler/install-packages.ts";
import { readProject } from "../../../server/drivers/bundler/read-project.ts";
import { packageManagerEnvironment } from "../../../server/drivers/bundler/select-package-manager.ts";
import { DEFAULT_LIMITS } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { memoryFolder } from "../memory-folder.ts";
import type { TestCheckout } from "./bundle-checkout.ts";

/**
 * Runs the install step of a build in the real sandbox, without the steps that follow. Returns its output.
 *
 * @param stored - where the organization of the build stores dependencies, if it does
 */
export async function installCheckout(
  packages: PackageRegistry,
  checkout: TestCheckout,
  stored: { dependencies: DependencyStore; organizationId: string; appId?: string } | null = null,
  variables: Readonly<Record<string, string>> = {},
  registry: BundleRequest["registry"] = null,
): Promise<string> {
  return (await installWithWarnings(packages, checkout, stored, variables, registry)).log;
}

/** The same. Returns the warnings too. */
export async function installWithWarnings(
  packages: PackageRegistry,
  checkout: TestCheckout,
  stored: Parameters<typeof installCheckout>[2] = null,
  variables: Readonly<Record<string, string>> = {},
  registry: BundleRequest["registry"] = null,
): Promise<{ log: string; warnings: readonly string[] }> {
  await using scratch = await memoryFolder();
  const location = { packageDirectory: ".", installDirectory: ".", isMember: false, buildFirst: [] };
  const project = await readProject(checkout.sourceDirectory, location);
  const chunks: Uint8Array[] = [];
  const request = {
    ...checkout,
    variables,
    registry,
    ...(stored && { organizationId: stored.organizationId, ...(stored.appId && { appId: stored.appId }) }),
    onOutput: (chunk: Uint8Array) => void chunks.push(chunk),
    signal: new AbortController().signal,
  };
  const context = {
    ...buildContext(request, scratch.path),
    env: packageManagerEnvironment(project.packageManager),
    dependencies: stored?.dependencies ?? null,
    databases: null,
  };
  const { warnings } = await installPackages(context, packages, project);
  return { log: Buffer.concat(chunks).toString(), warnings };
}

/** What the steps of a build in the real sandbox use. */
export function buildContext(request: BundleRequest, scratchDirectory: string): BuildContext {
  return {
    sandbox: new BubblewrapSandbox(),
    toolchain: {
      modulesDirectory: TOOLCHAIN_FOLDERS.modules,
      compileCacheDirectory: existsSync(TOOLCHAIN_FOLDERS.compiled) ? TOOLCHAIN_FOLDERS.compiled : null,
    },
    limits: DEFAULT_LIMITS,
    request,
    env: {},
    egress: null,
    dependencies: null,
    databases: null,
    scratchDirectory,
  };
}

/** Reads the main module of the package that `index.js` of a checkout imports by the first name, that one the next, and so on. */
export async function readImported(checkout: TestCheckout, ...names: string[]): Promise<string> {
  const start = path.join(checkout.sourceDirectory, "index.js");
  const file = names.reduce((importer, name) => createRequire(importer).resolve(name), start);
  return readFile(file, "utf8");
}
