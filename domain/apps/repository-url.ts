import { ServiceError } from "../shared/errors.ts";
import { toPlainHost } from "../shared/plain-host.ts";

export interface RepositoryUrlDeps {
  /** The URL below which the git host has its repositories. */
  gitBaseUrl: string;
}

/** What a URL says about a repository. */
export interface RepositoryReference {
  /** As owner/name. */
  repo: string;
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
 * Reads a URL of the git host, in the forms that people copy: the page of a repository or of a folder in it, and the addresses
 * for `git clone`. Credentials, the query and the fragment are ignored.
 *
 * @returns `null` for a text that is no URL, such as owner/name
 * @throws {ServiceError} `invalid` for a URL of another host, or of another page. The error does not contain the URL, which
 *   can have credentials.
 */
export function readRepositoryUrl(text: string, { gitBaseUrl }: RepositoryUrlDeps): RepositoryReference | null {
  const given = text.trim();
  if (given.length > MAX_LENGTH || SHORT_FORM.test(given)) return null;
  const address = splitAddress(given);
  if (address === null) return null;
  const base = new URL(gitBaseUrl);
  if (!isSameHost(address, base)) throw otherHost(base);
  const parts = splitPath(address.path);
  const prefix = splitPath(base.pathname);
  const hasPrefix = prefix.every((part, at) => parts[at] === part);
  // With SSH, the path of a repository often lacks the prefix that it has on the web.
  if (!hasPrefix && address.port !== null) throw otherHost(base);
  const [owner, name = "", ...page] = parts.slice(hasPrefix ? prefix.length : 0);
  const tree = readTree(page);
  if (owner === undefined || name === "" || tree === null) throw otherPage(base);
  return { repo: `${owner}/${name.replace(/(?<=.)\.git$/i, "")}`, tree };
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

function otherHost(base: URL): ServiceError {
  return new ServiceError("invalid", `repo: is a URL of another git host. ${describeHost(base)}`);
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
 * Replaces a URL in `repo` by owner/name, and adds the branch and the folder that the URL contains. Everything else stays as it is,
 * also an input that is not valid.
 *
 * @param folderField - the field of the folder in the repository
 * @throws {ServiceError} `invalid` for a URL of another host or page, and for one that contradicts the other fields
 */
export function normalizeRepository(deps: RepositoryUrlDeps, input: unknown, folderField: string): unknown {
  if (typeof input !== "object" || input === null || !("repo" in input) || typeof input.repo !== "string") return input;
  const reference = readRepositoryUrl(input.repo, deps);
  if (reference === null) return input;
  const fields = input as Record<string, unknown>;
  const { tree, repo } = reference;
  const [firstPart] = tree;
  if (firstPart === undefined) return { ...input, repo };
  const branch = readText(fields["branch"]) ?? firstPart;
  const path = tree.join("/");
  if (path !== branch && !path.startsWith(`${branch}/`)) throw contradiction("branch", "branch");
  const folder = path.slice(branch.length + 1);
  if (folder === "") return { ...input, repo, branch };
  if (toPlainFolder(readText(fields[folderField]) ?? folder) !== folder) throw contradiction(folderField, "folder");
  return { ...input, repo, branch, [folderField]: folder };
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
