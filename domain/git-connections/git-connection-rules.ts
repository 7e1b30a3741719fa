import { checkRepo } from "../repositories/repository-rules.ts";
import type { GitHostAccess, GitHostKind, GitHosts } from "../ports/git-hosts.ts";
import { GitHostError } from "../ports/git-hosts.ts";
import { ServiceError } from "../shared/errors.ts";
import { checkToken } from "../shared/token-rules.ts";
import type { ValueCipher } from "../shared/value-cipher.ts";
import type { GitConnection } from "./git-connection.entity.ts";

export interface GitConnectionDeps {
  gitHosts: GitHosts;
  /** Encrypts the tokens for git hosts. */
  gitTokenCipher: ValueCipher;
}

/** A connection as its organization sees it. The token is not part of it. */
export interface GitConnectionView {
  id: string;
  kind: GitHostKind;
  url: string;
  host: string;
  repositories: string | null;
  username: string;
  checked_at: string | null;
  created_at: string;
}

const DEFAULT_URLS: Partial<Record<GitHostKind, string>> = {
  github: "https://github.com",
  gitlab: "https://gitlab.com",
  bitbucket: "https://bitbucket.org",
};

/** The user name that a host expects beside a token. */
const DEFAULT_USERNAMES: Record<GitHostKind, string> = {
  github: "x-access-token",
  gitlab: "oauth2",
  gitea: "git",
  bitbucket: "x-token-auth",
  git: "git",
};

const MAX_TOKEN_LENGTH = 4000;

/**
 * Returns the URL below which the repositories are, without a slash at the end.
 *
 * @throws {ServiceError} `invalid` for a URL to which the service never connects
 */
export function normalizeUrl({ gitHosts }: GitConnectionDeps, kind: GitHostKind, url: string | undefined): string {
  const wanted = url ?? DEFAULT_URLS[kind];
  if (wanted === undefined)
    throw new ServiceError("invalid", `url: is required for the kind "${kind}". Example: "https://git.example.com".`);
  const problem = gitHosts.findUrlProblem(wanted);
  if (problem !== null) throw new ServiceError("invalid", `url: ${problem}.`);
  const { origin, pathname } = new URL(wanted);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

/** @throws {ServiceError} `invalid` */
export function checkGitToken(token: string): void {
  checkToken(token, MAX_TOKEN_LENGTH);
}

/**
 * @returns the user name to send with the token
 * @throws {ServiceError} `invalid`
 */
export function resolveUsername(kind: GitHostKind, username: string | undefined): string {
  if (username === undefined) return DEFAULT_USERNAMES[kind];
  // A colon would end the user name in the header.
  if (/^[\x21-\x39\x3b-\x7e]{1,255}$/.test(username)) return username;
  throw new ServiceError("invalid", "username: must have 1 to 255 visible ASCII characters, without a colon.");
}

/** @throws {ServiceError} `invalid` for anything but an owner, or a repository as owner/name */
export function checkRepositories(repositories: string | undefined): void {
  if (repositories === undefined) return;
  try {
    checkRepo(repositories.includes("/") ? repositories : `${repositories}/any`);
  } catch {
    throw new ServiceError("invalid", `repositories: must be an owner, or owner/name. Examples: "acme", "acme/shop".`);
  }
}

export function sealToken({ gitTokenCipher }: GitConnectionDeps, id: string, url: string, token: string): string {
  return gitTokenCipher.seal(token, [id, url]);
}

/**
 * Returns how to read the host of a connection.
 *
 * @throws {ServiceError} `conflict` when the token cannot be decrypted any more
 */
export function toAccess(
  { gitTokenCipher }: Pick<GitConnectionDeps, "gitTokenCipher">,
  { id, kind, url, username, sealedToken }: Pick<GitConnection, "id" | "kind" | "url" | "username" | "sealedToken">,
): GitHostAccess {
  const token = gitTokenCipher.open(sealedToken, [id, url]);
  if (token === null)
    throw new ServiceError("conflict", `The token for ${new URL(url).host} cannot be read any more. Send it again.`);
  const authorization = `Basic ${Buffer.from(`${username}:${token}`).toString("base64")}`;
  // Bitbucket has tokens of users, which belong to a user name, and tokens of repositories.
  const isBasic = kind === "bitbucket" && username !== DEFAULT_USERNAMES.bitbucket;
  const scheme = kind === "gitea" ? "token" : "Bearer";
  return { kind, url, authorization, apiAuthorization: isBasic ? authorization : `${scheme} ${token}` };
}

/**
 * Checks a credential with what the host offers for it: its API, or the one repository that it is for.
 *
 * @returns whether it could be checked
 * @throws {ServiceError} `invalid` when the host refuses it or cannot be reached
 */
export async function checkCredential(
  { gitHosts }: GitConnectionDeps,
  access: GitHostAccess,
  repositories: string | null,
): Promise<boolean> {
  const repo = repositories?.includes("/") ? repositories : null;
  if (repo === null && access.kind === "git") return false;
  await (repo === null ? gitHosts.check(access) : gitHosts.checkRepository(access, repo)).catch((error: unknown) => {
    throw toServiceError(error, new URL(access.url).host, repo);
  });
  return true;
}

/** @param repo - the repository that was asked for */
export function toServiceError(error: unknown, host: string, repo: string | null): unknown {
  if (!(error instanceof GitHostError)) return error;
  const messages = {
    refused: `token: ${host} does not accept it. Check that it is complete, has not expired, and may read repositories.`,
    not_found: `${host} has no repository ${repo ?? ""} that this token can read.`,
    unreachable: `url: ${host} cannot be reached, or does not respond as a git host of this kind.`,
  };
  return new ServiceError("invalid", messages[error.problem]);
}

export function toView(connection: GitConnection): GitConnectionView {
  const { id, kind, url, host, repositories = null, username, checkedAt, createdAt } = connection;
  return {
    id,
    kind,
    url,
    host,
    repositories,
    username,
    checked_at: checkedAt?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
  };
}

export function connectionNotFound(): ServiceError {
  return new ServiceError("not_found", "No such git connection.");
}
