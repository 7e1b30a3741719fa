import path from "node:path";
import type { Dependency } from "../../../domain/ports/bundler.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { PackageRegistry } from "../../ports/package-registry.ts";
import { type BuildContext, runBuildStep } from "./build-step.ts";
import { explainInstallFailure } from "./failures/explain-install.ts";
import { INSTALL_COMMANDS } from "./package-manager-commands.ts";
import { findPackageNames, readProjectTexts } from "./read-package-names.ts";
import type { Project } from "./read-project.ts";
import { selectPackageManager } from "./select-package-manager.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/** A name never starts with a dash, which would be an option. */
const NAME = /^(@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/;
/** A version, a range or a tag. Not a URL, a path or an alias. */
const RANGE = /^[\^~<>=]{0,2}[0-9a-zA-Z][0-9a-zA-Z.+-]{0,63}$/;

const LOCKFILES = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"];

/**
 * Adds a package of the registry to the manifest of a project and to its lockfile, with the package manager of the project.
 *
 * @throws {BuildFailure} `user` when the name or the version is not valid, or the package cannot be added
 */
export async function addDependency(
  context: BuildContext,
  packages: PackageRegistry,
  project: Project,
  { name, version = "latest", isDevelopment }: Dependency,
): Promise<void> {
  if (!NAME.test(name) || name.length > 214)
    throw new BuildFailure("user", "The name of the package is not valid.", "Use a name of the npm registry.");
  if (!RANGE.test(version))
    throw new BuildFailure("user", "The version is not valid.", "Use a version, a range such as ^1.2.0, or a tag.");
  const { packageManager, rootEntries, location } = project;
  const names = await findPackageNames(
    await readProjectTexts(path.join(context.request.sourceDirectory, location.installDirectory)),
  );
  await using session = await packages.open(new Set([...names, name]), { registry: context.request.registry ?? null });
  const tool = await selectPackageManager(context, session, project);
  const lockfile = location.isMember ? "" : (LOCKFILES.find((file) => rootEntries.has(file)) ?? "");
  const script = `${SANDBOX_PATHS.scripts}/add-dependency.ts`;
  const kind = isDevelopment ? "development" : "production";
  const { code, output } = await runBuildStep(
    { ...context, env: { ...context.env, ...tool.env } },
    {
      name: "install",
      directory: location.packageDirectory,
      env: INSTALL_COMMANDS[packageManager].env(session.registryUrl),
      network: { kind: "proxy", socketPath: session.socketPath },
      argv: [SANDBOX_PATHS.node, script, packageManager, lockfile, session.registryUrl, `${name}@${version}`, kind],
    },
  );
  if (code !== 0) throw explainInstallFailure(packageManager, session.report(), output.lines());
}
