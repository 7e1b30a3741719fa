import path from "node:path";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { PackageReport, PackageSource } from "../../../domain/ports/package-source.ts";
import { type BuildContext, runBuildStep } from "./build-step.ts";
import type { PackageManager } from "./detect-package-manager.ts";
import type { OutputTail } from "./output-tail.ts";
import { INSTALL_COMMANDS } from "./package-manager-commands.ts";
import { readPackageNames } from "./read-package-names.ts";
import { type Project, SVELTE_ADAPTER } from "./read-project.ts";
import { isConverted, selectTool } from "./select-tool.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/**
 * Installs the project's dependencies. The install can reach only the package source.
 *
 * @returns the context of the following steps, which run the same version of the package manager
 * @throws {BuildFailure} `user` when the dependencies cannot be installed, `platform` when the registry does not
 *   respond
 */
export async function installPackages(
  context: BuildContext,
  packages: PackageSource,
  project: Project,
): Promise<BuildContext> {
  const { packageManager, rootEntries, location } = project;
  const { argv, env } = INSTALL_COMMANDS[packageManager];
  if (packageManager === "bun" && isConverted(rootEntries)) await convertLockfile(context, location.installDirectory);
  const names = await readPackageNames(path.join(context.request.sourceDirectory, location.installDirectory));
  const added = project.needsSvelteAdapter ? [SVELTE_ADAPTER, "wrangler"] : [];
  await using session = await packages.open(new Set([...names, ...added]));
  const selected = { ...context, env: { ...context.env, ...(await selectTool(context, session, project)) } };
  const step = {
    name: "install",
    directory: location.installDirectory,
    env: env(session.registryUrl),
    network: { kind: "proxy", socketPath: session.socketPath },
  } as const;
  const { code, output } = await runBuildStep(selected, { ...step, argv: argv(rootEntries, session.registryUrl) });
  if (code !== 0) throw installFailure(packageManager, session.report(), output);
  // If this fails, the build fails with the error of SvelteKit, which says what to install.
  if (project.needsSvelteAdapter) {
    const argv = svelteAdapterInstall(packageManager);
    await runBuildStep(selected, { ...step, argv, directory: location.packageDirectory });
  }
  return selected;
}

function svelteAdapterInstall(packageManager: PackageManager): [string, ...string[]] {
  return [SANDBOX_PATHS.node, `${SANDBOX_PATHS.scripts}/install-svelte-adapter.ts`, packageManager, SVELTE_ADAPTER];
}

/** Replaces bun.lockb, which is binary, by bun.lock, of which the names and the URLs can be read. Bun needs no network for it. */
async function convertLockfile(context: BuildContext, directory: string): Promise<void> {
  const bun = `${SANDBOX_PATHS.scripts}/bin/bun`;
  const { code, output } = await runBuildStep(context, {
    name: "install",
    directory,
    argv: [bun, "install", "--frozen-lockfile", "--save-text-lockfile", "--lockfile-only"],
  });
  if (code === 0) return;
  throw userFailure(
    `bun.lockb could not be read: ${findReason("bun", output.lines())}`,
    "Convert it with `bun install --save-text-lockfile`, commit bun.lock, and deploy again.",
  );
}

/** The host wrote the report, so it is checked first. The output is untrusted and only adds details. */
function installFailure(packageManager: PackageManager, report: PackageReport, output: OutputTail): BuildFailure {
  const lines = output.lines();
  if (report.exceeded !== null) return exceededFailure(report.exceeded);
  const unavailable = report.unavailable[0];
  if (unavailable !== undefined) return registryFailure(unavailable);
  // A missing optional dependency does not stop an install, so the package must also appear in the output.
  const missing = report.missing.find((name) => lines.some((line) => line.includes(name)));
  if (missing !== undefined)
    return userFailure(
      `The package registry does not have the package ${missing}.`,
      "Correct its name or version in package.json, then deploy again.",
    );
  const blockedHost = report.blockedHosts[0];
  if (blockedHost !== undefined)
    return userFailure(
      `The install tried to reach ${blockedHost}. Builds can reach the package registry only.`,
      "Use dependencies from the package registry only, then deploy again.",
    );
  return userFailure(
    `${TITLES[packageManager]} could not install the packages: ${findReason(packageManager, lines)}`,
    "Read the build log. The install must succeed in a clean checkout.",
  );
}

/** The dependency that npm could not resolve beside the others. Its first line does not name it. */
function findConflict(lines: readonly string[]): string | undefined {
  const index = lines.findIndex((line) => line.endsWith("Could not resolve dependency:"));
  const conflict = index < 0 ? undefined : lines[index + 1];
  return conflict && `a dependency conflicts with another: ${conflict.replace(ERROR_PREFIX, "")}`;
}

function exceededFailure(limit: "otherPackages" | "bytes"): BuildFailure {
  if (limit === "bytes")
    return userFailure("The packages of the install exceed 1 GiB.", "Remove dependencies, then deploy again.");
  return userFailure(
    "The install requested too many packages that neither a package.json, the lockfile nor another package names.",
    "Commit a lockfile, then deploy again.",
  );
}

const TITLES: Readonly<Record<PackageManager, string>> = {
  npm: "npm",
  pnpm: "pnpm",
  yarn: "yarn",
  "yarn-berry": "Yarn",
  bun: "Bun",
};

function findReason(packageManager: PackageManager, lines: readonly string[]): string {
  // Every line of Yarn 2 and later has a code. 0000 are lines about the progress, and a failure is below the warnings.
  const reason =
    packageManager === "yarn-berry"
      ? lines.findLast((line) => /^➤ YN(?!0000)|^\w+ Error: /.test(line))
      : (findConflict(lines) ?? lines.find((line) => ERROR_PREFIX.test(line)));
  return (reason ?? lines.at(-1) ?? "it printed no reason.").replace(ERROR_PREFIX, "");
}

/** The start of a line with the reason of a failure: npm's, pnpm's, Yarn's and Bun's. */
const ERROR_PREFIX =
  /^(npm error ([A-Z]\w+:?|notarget|\d+)? ?|ERR_PNPM_\w+ +|error:? |➤ YN\d+: [│┌└·] |(Usage|Internal) Error: )/;

function registryFailure(name: string): BuildFailure {
  return new BuildFailure(
    "platform",
    `The package registry did not respond to the request for ${name}.`,
    "Your app is not the cause. Deploy again in a few minutes.",
  );
}

function userFailure(message: string, advice: string): BuildFailure {
  return new BuildFailure("user", message, advice);
}
