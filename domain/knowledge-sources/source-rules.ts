import { checkBranch, checkRepo } from "../repositories/repository-rules.ts";
import { findPathProblem } from "../documents/archive-files.ts";
import { ServiceError } from "../shared/errors.ts";

export const SOURCE_LIMITS = {
  sourcesOfOrganization: 50,
  /** The documents in the folder of a repository. */
  files: 2000,
  /** The documents in the folder of a repository together. */
  totalBytes: 100 * 1024 * 1024,
  /** How many skipped files a source names. */
  skippedFiles: 50,
  urlLength: 1000,
  /** A source is read again after this time. */
  intervalHours: 24,
} as const;

/** Where the documents of a source are. */
export interface SourceLocation {
  /** `null` for a repository. */
  url: string | null;
  /** `null` for a URL. */
  repo: string | null;
  /** The connected git host that has the repository; `null` for the service's own. */
  host: string | null;
  branch: string | null;
  path: string;
}

export interface GivenLocation {
  url?: string | undefined;
  repo?: string | undefined;
  /** The git host; without it, the one that has the repository. */
  host?: string | undefined;
  branch?: string | undefined;
  path?: string | undefined;
}

/**
 * Checks where a source is, without asking a host.
 *
 * @throws {ServiceError} `invalid`
 */
export function checkLocation({ url, repo, host, branch, path = "" }: GivenLocation): Omit<SourceLocation, "host"> {
  if (url !== undefined) {
    const fields = { repo, host, branch, path: path === "" ? undefined : path };
    const [other] = Object.entries(fields).find(([, value]) => value !== undefined) ?? [];
    if (other !== undefined) throw invalid(`${other}: is of a repository. Send either url or repo, and not both.`);
    return { url: checkUrl(url), repo: null, branch: null, path: "" };
  }
  if (repo === undefined) throw invalid("Send either url or repo.");
  checkRepo(repo);
  if (branch !== undefined) checkBranch(branch);
  return { url: null, repo, branch: branch ?? null, path: checkFolder(path) };
}

/** The address may have no credentials: every member of the organization sees it. */
function checkUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (url?.protocol !== "https:" || url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname))
    throw invalid('url: must be an https URL with a host name. Example: "https://example.com/pricing".');
  if (url.username !== "" || url.password !== "")
    throw invalid("url: must have no credentials. Only public pages can be a source.");
  url.hash = "";
  if (url.href.length <= SOURCE_LIMITS.urlLength) return url.href;
  throw invalid(`url: must have at most ${SOURCE_LIMITS.urlLength} characters.`);
}

function checkFolder(path: string): string {
  const folder = path.replace(/^(\.?\/)+/, "").replace(/\/+$/, "");
  if (folder === "" || folder === ".") return "";
  if (findPathProblem(`${folder}/a.md`) === null) return folder;
  throw invalid('path: must be a folder of the repository. Example: "docs/handbook".');
}

function invalid(message: string): ServiceError {
  return new ServiceError("invalid", message);
}

/** The same error for a source that never existed and for any of another organization. */
export function sourceNotFound(): ServiceError {
  return new ServiceError("not_found", "Source not found.");
}

export function nextCheck(now: Date): Date {
  return new Date(now.getTime() + SOURCE_LIMITS.intervalHours * 3_600_000);
}
