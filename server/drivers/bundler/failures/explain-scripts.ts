import { BuildFailure } from "../../../../domain/shared/errors.ts";
import type { RefusedRequest } from "../../../ports/package-registry.ts";
import type { ScriptFailure, ScriptReport } from "../inside/install-scripts/script-report.ts";
import { toSingleLine } from "../single-line.ts";
import { findUnreachableHosts } from "./explain-network.ts";
import { findCause } from "./find-cause.ts";

const MAX_LINES = 20;

/** What node-gyp and build tools print if a program of the machine is missing, and its name. */
const MISSING_PROGRAMS: readonly (readonly [RegExp, string])[] = [
  [/Can't find Python executable "python2?"/i, "Python 2"],
  [/find Python|Could not find any Python installation|python3?: (command )?not found/i, "python3"],
  [/not found: make\b|make: (command )?not found|spawn make ENOENT/i, "make"],
  [/(g\+\+|c\+\+|gcc|cc): (command )?(not found|No such file)|CMAKE_CXX_COMPILER|spawn (g\+\+|gcc|cc) ENOENT/i, "g++"],
];

/** What node-gyp prints when the compiler, and no download, failed. */
const COMPILER_FAILURE = /gyp ERR! build error|gyp ERR! stack Error: `make` failed/;

/** What a compiler prints about the interfaces of V8 and Node.js, which change with every major version. */
const NODE_INTERFACE =
  /\bv8(::|\.h\b|[\w-]*\.h\b)|\bnode(_\w+)?\.h\b|\bnan(_\w+)?\.h\b|\bNan::|\bC\+\+\d\d or later required/;

/** A package does not compile for the version of Node.js with which the scripts ran, and may compile for an older one. */
export class NotCompiledForNode extends BuildFailure {}

/**
 * Says why an install script failed, and what to do.
 *
 * @param nodeVersion - with which it ran
 */
export function explainScriptFailure(
  code: number,
  report: ScriptReport | null,
  refused: readonly RefusedRequest[],
  nodeVersion: string,
): BuildFailure {
  const failure = report?.failures.find(({ isTolerated }) => !isTolerated);
  if (failure === undefined) return userFailure(`The install scripts failed with exit code ${code}.`, REPRODUCE);
  const subject = describeScript(failure);
  if (failure.packageName === "node-sass")
    return userFailure(
      `${subject} has no program for this build: it downloads the program from github.com, or compiles it with Python 2.`,
      "node-sass is no longer maintained. Replace it by sass: npm uninstall node-sass && npm install --save-dev sass. Commit the lockfile, and deploy again.",
    );
  const program = MISSING_PROGRAMS.find(([pattern]) => failure.tail.some((line) => pattern.test(line)))?.[1];
  if (program !== undefined)
    return userFailure(
      `${subject} compiles a program, and ${program} is not installed on the machine of the service.`,
      program === "Python 2"
        ? "Update the package: this version is too old for the machine of the service."
        : `Use a version of the package with a prebuilt program, or ask the operator to install g++, make and python3.`,
    );
  const hosts = hostsOf(failure, refused);
  const lacksVips = failure.tail.some((line) => /\bvips\/vips/.test(line));
  if (failure.packageName === "sharp" && (hosts.length > 0 || lacksVips))
    return userFailure(
      `${subject} ${hosts.length > 0 ? `tried to reach ${hosts.join(", ")} for its program` : "could not compile its program, because libvips is not installed"}. Versions of sharp before 0.33 download it; later ones have it as an npm package.`,
      "Update sharp, and the packages that depend on it, to ^0.33.0 or later (`npm ls sharp` lists them; `overrides` in package.json can force the version), commit the lockfile, and deploy again.",
    );
  if (failure.tail.some((line) => COMPILER_FAILURE.test(line))) return notCompiled(failure, nodeVersion);
  if (hosts.length > 0) return unreachable(failure, hosts);
  const unresolved = packagesOf(failure, refused)[0];
  if (unresolved !== undefined)
    return userFailure(
      `${subject} requested the package ${unresolved}, which the install did not resolve.`,
      "Add it to the dependencies in package.json, commit the lockfile, and deploy again. Install scripts install no further packages, so replace dlx by exec.",
    );
  const cause = findCause(failure.tail.map(toSingleLine)) ?? "it printed nothing.";
  return userFailure(`${subject} failed with exit code ${failure.code}: ${cause}`, REPRODUCE);
}

const REPRODUCE =
  "Correct this error. To reproduce it, install in a clean checkout. The build log has the last lines of the script.";

/** One line about a script that failed without ending the build. */
export function describeTolerated(failure: ScriptFailure, refused: readonly RefusedRequest[]): string {
  const hosts = hostsOf(failure, refused);
  const cause = findCause(failure.tail.map(toSingleLine)) ?? `exit code ${failure.code}`;
  const reason = hosts.length > 0 ? `it tried to reach ${hosts.join(", ")}` : cause;
  return `${describeScript(failure)} failed, and the build went on without it: ${reason}`;
}

/** Lines for the build log: which script requested which hosts. */
export function listRefusedHosts(refused: readonly RefusedRequest[]): string[] {
  const lines = refused.flatMap(({ script, host }) =>
    host === null
      ? []
      : [`The install script of ${toSingleLine(script ?? "a package")} tried to reach ${toSingleLine(host)}.`],
  );
  return [...new Set(lines)].slice(0, MAX_LINES);
}

function notCompiled({ packageName, event, tail }: ScriptFailure, nodeVersion: string): BuildFailure {
  const error = tail.map(toSingleLine).find((line) => /\berror: /.test(line));
  const isAboutNode = tail.some((line) => NODE_INTERFACE.test(line));
  return new (isAboutNode ? NotCompiledForNode : BuildFailure)(
    "user",
    `${describeScript({ packageName, event })} could not compile its program for Node.js ${nodeVersion}${error === undefined ? "." : `: ${error}`}`,
    'Update the package to a version that supports this Node.js or has a prebuilt program as an npm package. Or choose a Node.js that it supports, such as "engines": { "node": "20" } in package.json, and deploy again. The build log has the last lines of the compiler.',
  );
}

function unreachable(failure: ScriptFailure, hosts: readonly string[]): BuildFailure {
  const { packageName } = failure;
  const subject = packageName === null ? `The ${failure.event} script` : `The install script of ${packageName}`;
  return userFailure(
    `${toSingleLine(subject)} tried to reach ${hosts.join(", ")}. Install scripts reach the package registry only.`,
    packageName === null
      ? "Remove the download from the script, or do it in the build script with build_network set to true, and deploy again."
      : "Use a version that gets its program as an npm package, turn its download off in .npmrc or its own settings, or remove the package, and deploy again.",
  );
}

function describeScript({ packageName, event }: Pick<ScriptFailure, "packageName" | "event">): string {
  const script = `The ${toSingleLine(event)} script`;
  return packageName === null ? `${script} of package.json` : `${script} of ${toSingleLine(packageName)}`;
}

/** The hosts that a script requested: through the proxy, or in vain by itself. */
function hostsOf({ packageName, tail }: ScriptFailure, refused: readonly RefusedRequest[]): string[] {
  const requested = refused.filter(({ script }) => script === (packageName ?? "project")).map(({ host }) => host);
  const hosts = [...requested, ...findUnreachableHosts(tail.map(toSingleLine))];
  return [...new Set(hosts.filter((host) => host !== null).map(toSingleLine))].slice(0, 5);
}

function packagesOf({ packageName }: ScriptFailure, refused: readonly RefusedRequest[]): string[] {
  const own = refused.filter(({ script }) => script === (packageName ?? "project"));
  return own.flatMap((each) => (each.packageName === null ? [] : [toSingleLine(each.packageName)]));
}

function userFailure(message: string, advice: string): BuildFailure {
  return new BuildFailure("user", message, advice);
}
