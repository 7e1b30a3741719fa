import { checkRepo } from "../repositories/repository-rules.ts";
import type { GitHostKind, GitHosts } from "../ports/git-hosts.ts";
import { GitHostError } from "../ports/git-hosts.ts";
import { ServiceError } from "../shared/errors.ts";
import { checkToken } from "../shared/token-rules.ts";
import type { ValueCipher } from "../shared/value-cipher.ts";
import type { GitConnection } from "./git-connection.entity.ts";
import { normalizePrivateKey } from "./github-app-rules.ts";
import { DEFAULT_USERNAMES, openAccess, type StoredCredential } from "./open-access.ts";

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
  /** `null` for a connection with a token. */
  github_app_id: string | null;
  installation_id: number | null;
  checked_at: string | null;
  created_at: string;
}

const DEFAULT_URLS: Partial<Record<GitHostKind, string>> = {
  github: "https://github.com",
  github_app: "https://github.com",
  gitlab: "https://gitlab.com",
  bitbucket: "https://bitbucket.org",
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

/** What authenticates the service at a host. */
export interface GivenCredential {
  token?: string | undefined;
  private_key?: string | undefined;
}

/**
 * Returns the secret of a credential: the token, or the private key of a GitHub App.
 *
 * @throws {ServiceError} `invalid`
 */
export function checkSecret(kind: GitHostKind, { token, private_key: privateKey }: GivenCredential): string {
  if (kind === "github_app") {
    if (token !== undefined) throw notOfKind("token", kind, "private_key");
    return normalizePrivateKey(privateKey);
  }
  if (privateKey !== undefined) throw notOfKind("private_key", kind, "token");
  if (token === undefined) throw new ServiceError("invalid", "token: is required.");
  checkToken(token, MAX_TOKEN_LENGTH);
  return token;
}

function notOfKind(field: string, kind: GitHostKind, valid: string): ServiceError {
  return new ServiceError("invalid", `${field}: the kind "${kind}" has none. Send ${valid}.`);
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
 * Checks a credential with what the host offers for it: its API, or the one repository that it is for.
 *
 * @returns whether it could be checked
 * @throws {ServiceError} `invalid` when the host refuses it or cannot be reached
 */
export async function checkCredential(
  deps: GitConnectionDeps,
  credential: StoredCredential & Pick<GitConnection, "repositories">,
): Promise<boolean> {
  const { kind, url, repositories = null } = credential;
  const repo = repositories?.includes("/") ? repositories : null;
  if (repo === null && kind === "git") return false;
  try {
    const access = await openAccess(deps, credential, { repo });
    await (repo === null ? deps.gitHosts.check(access) : deps.gitHosts.checkRepository(access, repo));
  } catch (error) {
    throw toServiceError(error, { kind, host: new URL(url).host }, repo);
  }
  return true;
}

/** @param repo - the repository that was asked for */
export function toServiceError(
  error: unknown,
  { kind, host }: Pick<GitConnection, "kind" | "host">,
  repo: string | null,
): unknown {
  if (!(error instanceof GitHostError)) return error;
  const refused =
    kind === "github_app"
      ? `private_key: ${host} does not accept it. Check that it belongs to the app, and that the app may read contents and is not suspended.`
      : `token: ${host} does not accept it. Check that it is complete, has not expired, and may read repositories.`;
  const messages = {
    refused,
    not_found: `${host} has no repository ${repo ?? ""} that this ${kind === "github_app" ? "app" : "token"} can read.`,
    unreachable: `url: ${host} cannot be reached, or does not respond as a git host of this kind.`,
  };
  return new ServiceError("invalid", messages[error.problem]);
}

export function toView(connection: GitConnection): GitConnectionView {
  const { id, kind, url, host, repositories = null, username, checkedAt, createdAt } = connection;
  const { appId = null, installationId = null } = connection;
  return {
    id,
    kind,
    url,
    host,
    repositories,
    username,
    github_app_id: appId,
    installation_id: installationId,
    checked_at: checkedAt?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
  };
}

export function connectionNotFound(): ServiceError {
  return new ServiceError("not_found", "No such git connection.");
}
