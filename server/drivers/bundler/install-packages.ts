import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { PackageReport, PackageSource } from "../../../domain/ports/package-source.ts";
import { INSTALLERS } from "./package-manager-commands.ts";
import type { OutputTail } from "./output-tail.ts";
import type { UnservedPackageManager } from "./detect-package-manager.ts";
import type { Project } from "./read-project.ts";
import { type BuildContext, runStep } from "./build-step.ts";

/**
 * Installs what the project depends on; the only thing that can be reached meanwhile is the package source.
 *
 * @throws {BuildFailure} `user` when the project's dependencies cannot be installed, `platform` when the registry
 *   does not answer
 */
export async function install(context: BuildContext, packages: PackageSource, project: Project): Promise<void> {
  const { packageManager, names } = project;
  if (packageManager === "bun" || packageManager === "yarn-berry") throw unsupported(packageManager);
  const { argv, registryVariable, env } = INSTALLERS[packageManager];
  await using session = await packages.open();
  const { code, output } = await runStep(context, {
    name: "install",
    argv: argv(names),
    env: { ...env, [registryVariable]: session.registryUrl },
    network: { kind: "proxy", socketPath: session.socketPath },
  });
  if (code !== 0) throw installFailure(packageManager, session.report(), output);
}

function unsupported(packageManager: UnservedPackageManager): BuildFailure {
  const name = packageManager === "bun" ? "Bun" : "Yarn 2 and later";
  return new BuildFailure(
    "user",
    `${name} cannot install packages here`,
    "Use npm, pnpm or Yarn 1: commit one of their lockfiles and set packageManager in package.json to match, or remove it.",
  );
}

/** What the package source saw is the host's own knowledge; what the package manager printed only adds words. */
function installFailure(packageManager: string, report: PackageReport, output: OutputTail): BuildFailure {
  const lines = output.lines();
  const unavailable = report.unavailable[0];
  if (unavailable !== undefined)
    return new BuildFailure(
      "platform",
      `The package registry did not answer for ${unavailable}`,
      "Deploy again in a while.",
    );
  // A missing optional dependency stops no install, so the one that did is the one that was complained about.
  const missing = report.missing.find((name) => lines.some((line) => line.includes(name)));
  if (missing !== undefined)
    return userFailure(`The package registry does not have ${missing}`, "Correct its name or version in package.json.");
  const refused = report.blockedHosts[0];
  if (refused !== undefined)
    return userFailure(
      `The install asked for ${refused}, which builds cannot reach`,
      "Depend on packages of the package registry only.",
    );
  const reason = lines.find((line) => ERROR_LINE.test(line)) ?? lines.at(-1) ?? "it printed no reason";
  return userFailure(
    `${packageManager} could not install the packages: ${reason.replace(ERROR_LINE, "")}`,
    "Read the build log, and make the same install pass on a clean checkout.",
  );
}

/** How a line with the reason starts: npm's, pnpm's and Yarn's. */
const ERROR_LINE = /^(npm error ([A-Z]\w+:?|notarget|\d+)? ?|ERR_PNPM_\w+ +|error )/;

function userFailure(message: string, advice: string): BuildFailure {
  return new BuildFailure("user", message, advice);
}
