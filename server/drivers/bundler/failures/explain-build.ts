import { BuildFailure } from "../../../../domain/shared/errors.ts";
import { adviseToSet, findMissingVariables } from "../../../../domain/shared/missing-variables.ts";
import { adviseOnImport } from "./advise-on-import.ts";
import { findCause } from "./find-cause.ts";

/** What the build script could connect to. */
export interface BuildConnections {
  /** Whether it had a network. */
  hasNetwork: boolean;
  /** Whether the operator allows apps to give their builds a network. */
  isAllowed: boolean;
  /** Hosts that the proxy refused, because they have no public address. */
  refusedHosts: readonly string[];
}

const COMMAND_NOT_FOUND =
  /^(?:\/bin\/)?(?:sh|bash): (?:line )?(?:\d+: )?([\w@./-]+): (?:command )?not found$|command not found: ([\w@./-]+)/;

const HEAP_LIMIT = /heap out of memory/;

/** The advice for a cause that matches. The first match decides. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/\berror TS\d+: |^Type error: /, "Correct the error. To see all errors, run: npx tsc --noEmit"],
  [
    /\.node'|bindings file|prebuil[dt]|node-gyp/i,
    "Builds run no install scripts, so this package has no native program here. Use a package without one, or build it in the build script.",
  ],
  [
    /environment variable|process\.env\.|\b[A-Z][A-Z\d]*_[A-Z\d_]+\b.{0,200}\b(missing|required|not (set|defined|provided))|\b(missing|required|set) .{0,200}\b[A-Z][A-Z\d]*_[A-Z\d_]+\b/i,
    "A build has no variables of your machine. Set the variable with build: true (PUT /v1/apps/{id}/variables/{name}), or a default value in the code, and deploy again.",
  ],
  [
    /\bSyntaxError\b|Unexpected token|Unterminated|Invalid end tag|closing tag/i,
    "Correct the syntax at this place, and deploy again.",
  ],
];

const DEFAULT_ADVICE =
  "Correct this error. To reproduce it, run the build script in a clean checkout. The build log has all of its output.";

/** Says why a build script failed, and what to do. `lines` is its output. */
export function explainBuildFailure(
  code: number,
  lines: readonly string[],
  connections: BuildConnections,
): BuildFailure {
  const cause = findCause(lines);
  if (cause === null) return userFailure(`The build failed with exit code ${code}.`, DEFAULT_ADVICE);
  if (lines.some((line) => HEAP_LIMIT.test(line))) return heapLimit();
  const command = COMMAND_NOT_FOUND.exec(cause)?.slice(1).find(Boolean);
  if (command !== undefined)
    return userFailure(
      `The build script runs the command "${command}", which is not installed.`,
      "Add the package of this command to devDependencies in package.json, and deploy again.",
    );
  const hosts = isAboutNetwork(cause) ? findUnreachableHosts(lines) : [];
  if (hosts.length > 0 && !connections.hasNetwork) return noNetwork(hosts, connections.isAllowed);
  const refused = isAboutNetwork(cause) ? connections.refusedHosts : [];
  if (refused.length > 0)
    return userFailure(
      `The build could not reach ${refused.join(", ")}. Builds can reach public addresses only, at the ports 80, 443 and from 1024.`,
      "Check the address. If it is not public, commit what the build fetches from there, and deploy again.",
    );
  const advice =
    adviseOnImport(cause) ??
    adviseOnVariables(lines) ??
    ADVICE.find(([pattern]) => pattern.test(cause))?.[1] ??
    DEFAULT_ADVICE;
  return userFailure(`The build failed with exit code ${code}: ${cause}${countOthers(cause, lines)}`, advice);
}

function adviseOnVariables(lines: readonly string[]): string | null {
  const names = findMissingVariables(lines);
  return names.length === 0 ? null : `A build has no variables of your machine. ${adviseToSet(names, "build")}`;
}

/** Says why a step crashed with a signal, if its output says so; otherwise `null`. */
export function explainCrash(lines: readonly string[]): BuildFailure | null {
  return lines.some((line) => HEAP_LIMIT.test(line)) ? heapLimit() : null;
}

function heapLimit(): BuildFailure {
  return userFailure(
    "The build reached the memory limit of Node.js (JavaScript heap out of memory).",
    "Reduce its memory use, or raise the limit in the build script: NODE_OPTIONS=--max-old-space-size=1536. A build has 2 GiB in total.",
  );
}

function noNetwork(hosts: readonly string[], isAllowed: boolean): BuildFailure {
  const advice = isAllowed
    ? "Set build_network to true, when you deploy or in the settings of the app (PATCH /v1/apps/{id}), and deploy again. Or commit what the build fetches."
    : "Commit what the build fetches, such as fonts, or fetch it when the app runs. Otherwise ask the operator to set BUILD_EGRESS=public, and then set build_network to true.";
  return userFailure(`The build tried to reach ${hosts.join(", ")}, but it has no network.`, advice);
}

/** TypeScript lists many errors of the same kind. */
function countOthers(cause: string, lines: readonly string[]): string {
  const errors = lines.filter((line) => /\berror TS\d+: /.test(line)).length;
  if (errors < 2 || !/\berror TS\d+: /.test(cause)) return "";
  return ` (and ${errors - 1} more)`;
}

function userFailure(message: string, advice: string): BuildFailure {
  return new BuildFailure("user", message, advice);
}

/** Errors of name resolution: of Node.js, and of curl. */
const UNRESOLVED = /(?:\b(?:ENOTFOUND|EAI_AGAIN)|Could not resolve host:) ([a-z\d.-]+\.[a-z]{2,})/gi;

/** Errors that name the URL of a request. */
const REQUEST = /(fetch|request|download|connect)/i;
const FAILURE = /(fail|error|issue|unable|could not|cannot|offline)/i;
const DOCUMENTATION = /read more|\bsee\b|\bdocs?\b/i;
const HOST = /https?:\/\/([a-z\d.-]+\.[a-z]{2,})/gi;

const MAX_HOSTS = 10;

/** The hosts that a step without a network tried to reach, as its output names them. */
export function findUnreachableHosts(lines: readonly string[]): string[] {
  const hosts = new Set<string>();
  for (const line of lines) {
    for (const [, host = ""] of line.matchAll(UNRESOLVED)) hosts.add(host.toLowerCase());
    if (/from Google Fonts/.test(line)) hosts.add("fonts.googleapis.com");
    if (!REQUEST.test(line) || !FAILURE.test(line) || DOCUMENTATION.test(line)) continue;
    for (const [, host = ""] of line.matchAll(HOST)) hosts.add(host.toLowerCase());
  }
  return [...hosts].slice(0, MAX_HOSTS);
}

/** Whether a cause is about a connection, so that the hosts that could not be reached explain it. */
function isAboutNetwork(cause: string): boolean {
  return /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|resolve host|Google Fonts|fetch|network|request|connect|offline|prerender/i.test(
    cause,
  );
}
