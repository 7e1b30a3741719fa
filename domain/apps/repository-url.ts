import { type FindGitAccessDeps, listConnectedUrls } from "../git-connections/find-git-access.ts";
import { ServiceError } from "../shared/errors.ts";
import { toPlainHost } from "../shared/plain-host.ts";

export type RepositoryUrlDeps = Pick<FindGitAccessDeps, "em" | "gitBaseUrl">;

/** The URLs below which git hosts have their repositories. */
export interface KnownHosts {
  /** That of the service's own host. */
  own: string;
  /** Those of the hosts that the organization has connected. */
  connected: readonly string[];
}

/** What a URL says about a repository. */
export interface RepositoryReference {
  /** As owner/name. */
  repo: string;
  /** The git host, such as `gitlab.com`; `null` for a local folder of repositories. */
  host: string | null;
  /** The branch and the folder in it, which a URL of a folder contains, as the parts of their paths. */
  tree: readonly string[];
}

/** The address of a repository, split into its parts. */
interface Address {
  /** `null` for the forms of SSH, whose port differs from that of the web. */
  port: string | null;
  hostname: string;
  path: string;
}

/** In characters. A longer text is no URL of a repository, and matching the patterns below would take long. */
const MAX_LENGTH = 2048;
const SHORT_FORM = /^[^\s/:@]+\/[^\s/:@]+$/;
const WITH_SCHEME = /^(?:git\+)?(https?|ssh|git|file):\/\//i;
/** `github.com/acme/site`. */
const WITHOUT_SCHEME = /^(?:[^\s/:@]+\.[^\s/:@]+|[^\s/:@]+:\d+)\/[^\s/]+\/\S+$/;
/** `git@github.com:acme/site.git`. */
const SCP_FORM = /^(?:[^\s/:@]+@)?([^\s/:@]+):(?!\/\/)([^\s?#]+)/;

/** What precedes the branch in URLs of folders: GitHub, GitLab, Gitea and Forgejo, Bitbucket. */
const TREE_PREFIXES = [["tree"], ["-", "tree"], ["src", "branch"], ["src"]] as const;
/** Gitea and Forgejo: what follows `src` for something else than a branch. */
const NO_BRANCH = ["commit", "tag"];

/**
 * Reads a URL of a git host, in the forms that people copy: the page of a repository or of a folder in it, and the addresses
 * for `git clone`. Credentials, the query and the fragment are ignored.
 *
 * @returns `null` for a text that is no URL, such as owner/name
 * @throws {ServiceError} `invalid` for a URL of an unknown host, or of another page. The error does not contain the URL, which
 *   can have credentials.
 */
export function readRepositoryUrl(text: string, { own, connected }: KnownHosts): RepositoryReference | null {
  const address = findAddress(text);
  if (address === null) return null;
  const bases = [own, ...connected].map((url) => new URL(url));
  const ofHost = bases.filter((base) => isSameHost(address, base));
  const [base] = ofHost.filter((each) => isBelow(address, each)).toSorted(byLongestPath);
  if (base === undefined) throw otherHost(address, ofHost[0] ?? new URL(own), ofHost.length > 0);
  const parts = splitPath(address.path);
  const prefix = splitPath(base.pathname);
  const [owner, name = "", ...page] = parts.slice(startsWith(parts, prefix) ? prefix.length : 0);
  const tree = readTree(page);
  if (owner === undefined || name === "" || tree === null) throw otherPage(base);
  return { repo: `${owner}/${name.replace(/(?<=.)\.git$/i, "")}`, host: base.host || null, tree };
}

function findAddress(text: string): Address | null {
  const given = text.trim();
  return given.length > MAX_LENGTH || SHORT_FORM.test(given) ? null : splitAddress(given);
}

function splitAddress(given: string): Address | null {
  if (WITH_SCHEME.test(given)) {
    const url = URL.parse(given.replace(/^git\+/i, ""));
    if (url === null) return null;
    const isWeb = /^(https?|file):$/.test(url.protocol);
    return { port: isWeb ? url.port : null, hostname: url.hostname, path: url.pathname };
  }
  if (WITHOUT_SCHEME.test(given)) return splitAddress(`https://${given}`);
  const [, hostname, path] = SCP_FORM.exec(given) ?? [];
  return hostname === undefined || path === undefined ? null : { port: null, hostname, path };
}

function isSameHost({ hostname, port }: Address, base: URL): boolean {
  return toPlainHost(hostname) === toPlainHost(base.hostname) && (port === null || port === base.port);
}

/** With SSH, the path of a repository often lacks the prefix that it has on the web. */
function isBelow({ path, port }: Address, base: URL): boolean {
  return port === null || startsWith(splitPath(path), splitPath(base.pathname));
}

function startsWith(parts: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((part, at) => parts[at] === part);
}

function byLongestPath(a: URL, b: URL): number {
  return b.pathname.length - a.pathname.length;
}

function splitPath(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return parts;
  }
}

/** Returns the parts of the branch and the folder; `null` for a page that is no folder. */
function readTree(page: readonly string[]): string[] | null {
  if (page.length === 0) return [];
  const prefix = TREE_PREFIXES.find((parts) => parts.every((part, at) => page[at] === part));
  const tree = prefix === undefined ? null : page.slice(prefix.length);
  return prefix?.[0] === "src" && NO_BRANCH.includes(tree?.[0] ?? "") ? null : tree;
}

function otherHost({ hostname }: Address, base: URL, isKnown: boolean): ServiceError {
  if (isKnown || !/^[a-z0-9.-]{1,253}$/i.test(hostname))
    return new ServiceError("invalid", `repo: is a URL of another git host. ${describeHost(base)}`);
  const advice = "An administrator connects it with POST /v1/git-connections, or in the dashboard (Git connections).";
  return new ServiceError(
    "invalid",
    `repo: the organization has no git connection to ${hostname}. ${advice} ${describeHost(base)}`,
  );
}

function otherPage(base: URL): ServiceError {
  return new ServiceError(
    "invalid",
    `repo: is a URL of neither a repository nor a folder in one. ${describeHost(base)}`,
  );
}

function describeHost({ protocol, host, pathname }: URL): string {
  if (protocol === "file:") return "This service deploys from a local folder. Pass owner/name, such as acme/site.";
  const example = `${protocol}//${host}${pathname.replace(/\/+$/, "")}/acme/site`;
  return `This service deploys from ${host}. Pass owner/name, or a URL such as ${example}.`;
}

/**
 * Replaces a URL in `repo` by owner/name, and adds the host, and the branch and the folder that the URL contains. Everything else
 * stays as it is, also an input that is not valid.
 *
 * @param folderField - the field of the folder in the repository
 * @throws {ServiceError} `invalid` for a URL of an unknown host or another page, and for one that contradicts the other fields
 */
export async function normalizeRepository(
  deps: RepositoryUrlDeps,
  orgId: string,
  input: unknown,
  folderField: string,
): Promise<unknown> {
  if (typeof input !== "object" || input === null || !("repo" in input) || typeof input.repo !== "string") return input;
  if (findAddress(input.repo) === null) return input;
  const hosts = { own: deps.gitBaseUrl, connected: await listConnectedUrls(deps, orgId) };
  return replaceUrl(input as RepositoryInput, hosts, folderField);
}

type RepositoryInput = Readonly<Record<string, unknown> & { repo: string }>;

/** Replaces the URL in `repo`, which can be no URL at all. */
export function replaceUrl(input: RepositoryInput, hosts: KnownHosts, folderField: string): unknown {
  const reference = readRepositoryUrl(input.repo, hosts);
  if (reference === null) return input;
  const { tree, repo, host } = reference;
  const { host: wantedHost } = input;
  if (readText(wantedHost) !== null && wantedHost !== host) throw contradiction("host", "host");
  const named = { ...input, repo, ...(host !== null && { host }) };
  const [firstPart] = tree;
  if (firstPart === undefined) return named;
  const branch = readText(input["branch"]) ?? firstPart;
  const path = tree.join("/");
  if (path !== branch && !path.startsWith(`${branch}/`)) throw contradiction("branch", "branch");
  const folder = path.slice(branch.length + 1);
  if (folder === "") return { ...named, branch };
  if (toPlainFolder(readText(input[folderField]) ?? folder) !== folder) throw contradiction(folderField, "folder");
  return { ...named, branch, [folderField]: folder };
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function toPlainFolder(folder: string): string {
  return folder.replace(/^(\.?\/)+/, "").replace(/\/+$/, "");
}

function contradiction(field: string, what: string): ServiceError {
  return new ServiceError("invalid", `${field}: the URL in repo contains another ${what}. Leave one of them out.`);
}
