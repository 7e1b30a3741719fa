import type { GitHostAccess, GitHostKind, GitHosts, TokenPermissions } from "../ports/git-hosts.ts";
import { basicAuthorization } from "../shared/basic-authorization.ts";
import { ServiceError } from "../shared/errors.ts";
import type { ValueCipher } from "../shared/value-cipher.ts";
import type { GitConnection } from "./git-connection.entity.ts";

/** The user name that a host expects beside a token. */
export const DEFAULT_USERNAMES: Record<GitHostKind, string> = {
  github: "x-access-token",
  github_app: "x-access-token",
  gitlab: "oauth2",
  gitea: "git",
  bitbucket: "x-token-auth",
  git: "git",
};

export interface OpenAccessDeps {
  gitHosts: Pick<GitHosts, "issueToken">;
  /** Decrypts the tokens for git hosts. */
  gitTokenCipher: ValueCipher;
}

/** The part of a connection that says how to authenticate. */
export type StoredCredential = Pick<
  GitConnection,
  "id" | "kind" | "url" | "username" | "sealedToken" | "appId" | "installationId"
>;

/** What an access is for. */
export interface WantedAccess {
  /** As owner/name; `null` to list repositories. */
  repo: string | null;
  /** What the token of a GitHub App has to permit, by default to read the repository. Other tokens permit what they permit. */
  permissions?: TokenPermissions;
}

/**
 * Returns how to read the repositories of a connection, and how to call the API of its host. A GitHub App gets a token for the
 * wanted repository only.
 *
 * @throws {GitHostError} when GitHub issues no token: the app is not installed for the repository any more, or suspended
 * @throws {ServiceError} `conflict` when the stored token cannot be decrypted any more
 */
export async function openAccess(
  { gitHosts, gitTokenCipher }: OpenAccessDeps,
  credential: StoredCredential,
  { repo, permissions = repo === null ? LIST : READ }: WantedAccess,
): Promise<GitHostAccess> {
  const { id, kind, url, username, sealedToken, appId = null, installationId = null } = credential;
  const secret = gitTokenCipher.open(sealedToken, [id, url]);
  if (secret === null)
    throw new ServiceError("conflict", `The token for ${new URL(url).host} cannot be read any more. Send it again.`);
  const app = appId === null || installationId === null ? null : { url, appId, installationId, privateKey: secret };
  const token = app === null ? secret : await gitHosts.issueToken(app, repo, permissions);
  const authorization = basicAuthorization(username, token);
  // Bitbucket has tokens of users, which belong to a user name, and tokens of repositories.
  const isBasic = kind === "bitbucket" && username !== DEFAULT_USERNAMES.bitbucket;
  const scheme = kind === "gitea" ? "token" : "Bearer";
  return { kind, url, authorization, apiAuthorization: isBasic ? authorization : `${scheme} ${token}` };
}

const READ: TokenPermissions = { contents: "read" };
const LIST: TokenPermissions = { metadata: "read" };
