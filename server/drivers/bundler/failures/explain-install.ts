import { BuildFailure } from "../../../../domain/shared/errors.ts";
import type { PackageReport } from "../../../ports/package-registry.ts";
import type { PackageManager } from "../detect-package-manager.ts";
import type { ForeignPackage } from "../find-foreign-packages.ts";
import { toSingleLine } from "../single-line.ts";
import { OUTDATED_LOCKFILE } from "../relax-install.ts";

const TITLES: Readonly<Record<PackageManager, string>> = {
  npm: "npm",
  pnpm: "pnpm",
  yarn: "yarn",
  "yarn-berry": "Yarn",
  bun: "Bun",
};

/** A version that the registry does not have: of npm and pnpm, Yarn 1, Yarn 2 and later, Bun. */
const MISSING_VERSION: readonly RegExp[] = [
  /No matching version found for (?<name>@?[^@\s]{1,214})@(?<range>.{1,200}?)(?:\.| while fetching .{1,500})?$/,
  /Couldn't find any versions for "(?<name>[^"]+)" that matches "(?<range>[^"]+)"/,
  /(?<name>(?:@|(?<![\w./-]))[\w./-]+)@npm:(?<range>[^:]+): No candidates found/,
  /No version matching "(?<range>[^"]+)" found for specifier "(?<name>[^"]+)"/,
];

const LOCKFILES: Readonly<Record<PackageManager, readonly [file: string, command: string]>> = {
  npm: ["package-lock.json", "npm install"],
  pnpm: ["pnpm-lock.yaml", "pnpm install"],
  yarn: ["yarn.lock", "yarn install"],
  "yarn-berry": ["yarn.lock", "yarn install"],
  bun: ["bun.lock", "bun install"],
};

/** Says why an install failed, and what to do. The host wrote the report, so it is checked before the untrusted output. */
export function explainInstallFailure(
  packageManager: PackageManager,
  report: PackageReport,
  lines: readonly string[],
  foreign: readonly ForeignPackage[] = [],
): BuildFailure {
  if (report.exceeded !== null) return exceededFailure(report.exceeded);
  const unavailable = report.unavailable[0];
  if (unavailable !== undefined) return registryFailure(unavailable);
  return (
    failedUrl(report, foreign) ??
    missingTarball(report, foreign) ??
    missingPackage(report, lines) ??
    missingVersion(lines) ??
    blockedHost(report, lines, foreign) ??
    unreachableGit(lines, foreign) ??
    outdatedLockfile(packageManager, lines) ??
    conflict(lines) ??
    workspaceProtocol(packageManager, lines) ??
    userFailure(
      `${TITLES[packageManager]} could not install the packages: ${findInstallReason(packageManager, lines)}`,
      "Correct this error. To reproduce it, install in a clean checkout. The build log has all of the output.",
    )
  );
}

/** npm requests the tarball of another host from the registry, because a lockfile may name another registry. */
function missingTarball({ missing }: PackageReport, foreign: readonly ForeignPackage[]): BuildFailure | null {
  const found = foreign.find(({ source }) => missing.some(({ name }) => name !== "" && source.endsWith(`/${name}`)));
  const host = found && URL.parse(found.source)?.host;
  return host ? notReachable(host, [found.name]) : null;
}

/** A file outside of the registry that could not be fetched. Package managers tolerate some of these failures. */
function failedUrl({ failedUrls: [failed] }: PackageReport, foreign: readonly ForeignPackage[]): BuildFailure | null {
  if (failed === undefined) return null;
  const { url, reason } = failed;
  const [, repository = url] =
    /^https:\/\/(?:codeload\.|api\.|raw\.)?[\w.-]+\/(?:repos\/)?([^/]+\/[^/]+?)(?:\.git)?(?:\/|$)/.exec(url) ?? [];
  const named = foreign.filter(({ source }) => source.includes(url) || source.includes(repository));
  const what = (named.length > 0 ? named : foreign).map(({ name }) => name).join(", ");
  return userFailure(
    `${what === "" ? "A package" : what} could not be fetched from ${toSingleLine(url)}: ${reason}.`,
    "Check that the address is public and exists. Otherwise use a version of the package from the package registry, or copy its code into the repository, then deploy again.",
  );
}

function notReachable(host: string, names: readonly string[]): BuildFailure {
  const what = names.length === 0 ? "" : ` for ${names.join(", ")}`;
  return userFailure(
    `The install tried to reach ${host}${what}. Builds can reach the package registry, https archives, and repositories of GitHub, GitLab and Bitbucket.`,
    "Use a version of the package from the package registry, or copy its code into the repository, then deploy again.",
  );
}

/** A missing optional dependency does not stop an install, so the package must also appear in the output. */
function missingPackage({ missing }: PackageReport, lines: readonly string[]): BuildFailure | null {
  const found = missing.find(({ name }) => lines.some((line) => line.includes(name)));
  if (found === undefined) return null;
  if (found.version !== null)
    return userFailure(
      `The package registry does not have version ${found.version} of the package ${found.name}.`,
      "Change the version in package.json, install again, commit the lockfile, and deploy again.",
    );
  return userFailure(
    `The package registry does not have the package ${found.name}.`,
    "Correct its name in package.json, or remove it, then deploy again. For a private package, set the variables NPM_REGISTRY and NPM_TOKEN of the app.",
  );
}

function missingVersion(lines: readonly string[]): BuildFailure | null {
  const match = lines.flatMap((line) => MISSING_VERSION.map((pattern) => pattern.exec(line)?.groups)).find(Boolean);
  if (match === undefined) return null;
  return userFailure(
    `The package registry has no version of ${match["name"]} that matches ${match["range"]}.`,
    `Change the version of ${match["name"]} in package.json to one that exists (npm view ${match["name"]} versions), then deploy again.`,
  );
}

function blockedHost(
  { blockedHosts: [host] }: PackageReport,
  lines: readonly string[],
  foreign: readonly ForeignPackage[],
): BuildFailure | null {
  if (host === undefined) return null;
  const named = lines
    .map((line) => /(?:@|(?<![\w./-]))[\w./-]+@(?=(?:git|github|https?|ssh)[:+])/.exec(line)?.[0].slice(0, -1))
    .find(Boolean);
  return notReachable(host, named === undefined ? foreign.map(({ name }) => name) : [named]);
}

/** git and ssh do not use the proxy of an install, so only their output tells that they have run. */
function unreachableGit(lines: readonly string[], foreign: readonly ForeignPackage[]): BuildFailure | null {
  const [first] = foreign;
  if (first === undefined || !lines.some((line) => /\bgit\b|\bssh\b|Could not resolve host/i.test(line))) return null;
  return userFailure(
    `The install tried to fetch ${foreign.map(({ name }) => name).join(", ")} with git, from ${first.source}. Builds can reach the package registry, https archives, and repositories of GitHub, GitLab and Bitbucket.`,
    "Use a version of the package from the package registry, or copy its code into the repository, then deploy again.",
  );
}

function outdatedLockfile(packageManager: PackageManager, lines: readonly string[]): BuildFailure | null {
  if (!lines.some((line) => OUTDATED_LOCKFILE.test(line))) return null;
  const [file, command] = LOCKFILES[packageManager];
  const missing = lines.map((line) => /^npm error (Missing|Invalid): (.+)$/.exec(line)?.[0].slice(10)).find(Boolean);
  return userFailure(
    `${file} does not match package.json${missing === undefined ? "." : `: ${missing}.`}`,
    `Run \`${command}\`, commit ${file}, and deploy again.`,
  );
}

/** The dependency that npm could not resolve beside the others. Its first line names neither. */
function conflict(lines: readonly string[]): BuildFailure | null {
  const index = lines.findIndex((line) => line.endsWith("Could not resolve dependency:"));
  const peer = /(?<!\S)(\S{1,214}?)@"([^"]+)" from (\S+)/.exec(index < 0 ? "" : (lines[index + 1] ?? ""));
  if (peer === null) return null;
  const [, name, range, dependent] = peer;
  const found = lines.map((line) => /^npm error Found: (\S+)$/.exec(line)?.[1]).find(Boolean);
  return userFailure(
    `${dependent} requires ${name}@${range}${found === undefined ? ", which conflicts with another dependency." : `, but the project has ${found}.`}`,
    `Change the version of one of the two in package.json, or commit an .npmrc with legacy-peer-deps=true, and deploy again.`,
  );
}

function workspaceProtocol(packageManager: PackageManager, lines: readonly string[]): BuildFailure | null {
  if (packageManager !== "npm" || !lines.some((line) => line.includes('URL Type "workspace:"'))) return null;
  return userFailure(
    'A dependency has the version "workspace:", which npm does not support.',
    "Commit the lockfile of pnpm, Yarn or Bun, or name the package manager in packageManager of package.json. If the app is in a folder of a workspace, deploy the whole repository with root_directory.",
  );
}

function exceededFailure(limit: "otherPackages" | "bytes"): BuildFailure {
  if (limit === "bytes")
    return userFailure("The packages of the install exceed 1 GiB.", "Remove dependencies, then deploy again.");
  return userFailure(
    "The install requested too many packages that neither a package.json, the lockfile nor another package names.",
    "Commit a lockfile, then deploy again.",
  );
}

/** The first line of a package manager's output that states a reason. */
export function findInstallReason(packageManager: PackageManager, lines: readonly string[]): string {
  // Every line of Yarn 2 and later has a code. 0000 are lines about the progress, and a failure is below the warnings.
  const reason =
    packageManager === "yarn-berry"
      ? lines.findLast((line) => /^➤ YN(?!0000)|^\w+ Error: /.test(line))
      : lines.find((line) => ERROR_PREFIX.test(line));
  return (reason ?? lines.at(-1) ?? "it printed no reason.").replace(ERROR_PREFIX, "");
}

/** The start of a line with the reason of a failure: npm's, pnpm's, Yarn's and Bun's. */
const ERROR_PREFIX =
  /^(npm error ([A-Z][A-Z\d]+:?(?= |$)|notarget|\d+)? ?|ERR_PNPM_\w+ +|error:? |➤ YN\d+: [│┌└·] |(Usage|Internal) Error: )/;

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
