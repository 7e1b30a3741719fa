import path from "node:path";
import type { PackageRegistry } from "../../ports/package-registry.ts";
import { type BuildContext, runBuildStep } from "./build-step.ts";
import { INSTALL_COMMANDS } from "./package-manager-commands.ts";
import { findPackageNames, readProjectTexts } from "./read-package-names.ts";
import { type Project, SVELTE_ADAPTER } from "./read-project.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/**
 * Installs the adapter that SvelteKit's adapter-auto chooses. It is in no lockfile, so no build stores it. If this fails, the
 * build fails with the error of SvelteKit, which says what to install.
 */
export async function installSvelteAdapter(
  context: BuildContext,
  packages: PackageRegistry,
  { packageManager, location }: Project,
): Promise<void> {
  const { installDirectory, packageDirectory } = location;
  const names = await findPackageNames(
    await readProjectTexts(path.join(context.request.sourceDirectory, installDirectory)),
  );
  await using session = await packages.open(new Set([...names, SVELTE_ADAPTER, "wrangler"]));
  await runBuildStep(context, {
    name: "install",
    directory: packageDirectory,
    env: INSTALL_COMMANDS[packageManager].env(session.registryUrl),
    network: { kind: "proxy", socketPath: session.socketPath },
    argv: [SANDBOX_PATHS.node, `${SANDBOX_PATHS.scripts}/install-svelte-adapter.ts`, packageManager, SVELTE_ADAPTER],
  });
}
