import { BuildFailure } from "../../../../domain/shared/errors.ts";

/** The part of the operator's setting that errors name. */
export interface EgressSetting {
  setting: string;
  isPublic: boolean;
}

/** What the build script could connect to. */
export interface BuildConnections {
  /** Nothing, the hosts of the operator's setting, or all public addresses. */
  kind: "none" | "hosts" | "public";
  /** `null` without a setting, which allows nothing. */
  egress: EgressSetting | null;
  /** Hosts that could not be reached: allowed ones that did not respond, or those without a public address. */
  failedHosts: readonly string[];
}

/** Errors of name resolution: of Node.js, and of curl. */
const UNRESOLVED = /(?:\b(?:ENOTFOUND|EAI_AGAIN)|Could not resolve host:) ([a-z\d.-]+\.[a-z]{2,})/gi;

/** Errors that name the URL of a request. */
const REQUEST = /(fetch|request|download|connect)/i;
const FAILURE = /(fail|error|issue|unable|could not|cannot|offline)/i;
const DOCUMENTATION = /read more|\bsee\b|\bdocs?\b/i;
const HOST = /https?:\/\/([a-z\d.-]+\.[a-z]{2,})/gi;

const MAX_HOSTS = 10;

/** What npx, `pnpm dlx`, bunx and `yarn dlx` print of a package that is not installed and that they cannot download. */
const REGISTRY_REQUESTS: readonly RegExp[] = [
  /(?:npm error .{0,40}(?:403 Forbidden - GET|request to)|ERR_PNPM_\w+ {1,2}GET) https:\/\/registry\.(?:npmjs\.org|yarnpkg\.com)\/((?:@[\w.-]+(?:\/|%2f))?[\w.-]+)/i,
  /\bdownloading package manifest ((?:@[\w.-]+\/)?[\w.-]+)/,
  /\bYN0027: ((?:@[\w.-]+\/)?[\w.-]+)@unknown can't be resolved/,
];

/** Says which package a build script tried to download; `null` if its output names none. */
export function explainDownloadedPackage(
  lines: readonly string[],
  { kind }: Pick<BuildConnections, "kind">,
): BuildFailure | null {
  if (kind === "public") return null;
  const requested = lines.map((line) => REGISTRY_REQUESTS.map((pattern) => pattern.exec(line)?.[1]).find(Boolean));
  const name = requested.find((found) => found !== undefined)?.replace(/%2f/i, "/");
  if (name === undefined) return null;
  return userFailure(
    `The build script runs the package ${name}, which is not installed. Builds cannot download packages.`,
    `Add it to devDependencies in package.json (npm install --save-dev ${name}), commit the lockfile too, and deploy again. npx and bunx then run the installed package; replace dlx by exec.`,
  );
}

/** Says that a build requested hosts that the operator's setting does not allow. */
export function explainRefusedHost(hosts: readonly string[], egress: EgressSetting | null): BuildFailure {
  const { setting = "none", isPublic = false } = egress ?? {};
  const advice = isPublic
    ? "Set build_network to true, when you deploy or in the settings of the app (PATCH /v1/apps/{id}), and deploy again. Or commit what the build fetches."
    : "Commit what the build fetches, or fetch it when the app runs. Otherwise ask the operator to add the host to BUILD_EGRESS, or to set BUILD_EGRESS=public, and then set build_network to true.";
  return userFailure(
    `The build tried to reach ${hosts.join(", ")}, which BUILD_EGRESS=${setting} does not allow.`,
    advice,
  );
}

/** Says which hosts a failed build could not reach; `null` if its error is not about a connection. */
export function explainConnection(
  cause: string,
  lines: readonly string[],
  { kind, egress, failedHosts }: BuildConnections,
): BuildFailure | null {
  if (!isAboutNetwork(cause)) return null;
  if (kind === "public" && failedHosts.length > 0)
    return userFailure(
      `The build could not reach ${failedHosts.join(", ")}. Builds can reach public addresses only, at the ports 80, 443 and from 1024.`,
      "Check the address. If it is not public, commit what the build fetches from there, and deploy again.",
    );
  if (kind === "hosts" && failedHosts.length > 0)
    return userFailure(
      `The build could not reach ${failedHosts.join(", ")}. The host does not respond to the machine of the service.`,
      "Deploy again later, or commit what the build fetches, such as fonts.",
    );
  const hosts = kind === "public" ? [] : findUnreachableHosts(lines);
  return hosts.length > 0 ? explainRefusedHost(hosts, egress) : null;
}

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

function userFailure(message: string, advice: string): BuildFailure {
  return new BuildFailure("user", message, advice);
}
