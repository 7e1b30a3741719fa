import { randomUUID } from "node:crypto";
import type { SqlEntityManager } from "@mikro-orm/sql";
import type { GitHostKind } from "../ports/git-hosts.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import {
  checkCredential,
  checkRepositories,
  checkSecret,
  type GitConnectionDeps,
  type GitConnectionView,
  type GivenCredential,
  normalizeUrl,
  resolveUsername,
  sealToken,
  toServiceError,
  toView,
} from "./git-connection-rules.ts";
import { checkAppId, findInstallation } from "./github-app-rules.ts";
import { GitConnection } from "./git-connection.entity.ts";

export interface ChangeGitConnectionDeps extends GitConnectionDeps {
  em: SqlEntityManager;
}

export interface CreateGitConnection extends GivenCredential {
  kind: GitHostKind;
  /** By default that of GitHub, GitLab or Bitbucket. */
  url?: string | undefined;
  /** The id of a GitHub App, or its client id. */
  github_app_id?: string | undefined;
  /** By default the one for `repositories`, or the only one of the app. */
  installation_id?: number | undefined;
  /** By default what the kind of host expects beside a token. */
  username?: string | undefined;
  /** Whose repositories it is for: an owner, or one repository as owner/name; by default all of the host. */
  repositories?: string | undefined;
}

const MAX_CONNECTIONS = 100;

/**
 * Connects an organization to a git host, after the host has accepted the token or the private key.
 *
 * @throws {ServiceError} `invalid` for a value that is not allowed, or a token that the host does not accept; `conflict` when the
 *   organization has too many connections, or one for the same repositories
 */
export async function createGitConnection(
  deps: ChangeGitConnectionDeps,
  { orgId, userId }: Caller,
  request: CreateGitConnection,
): Promise<GitConnectionView> {
  const { kind, username } = request;
  const secret = checkSecret(kind, request);
  checkRepositories(request.repositories);
  const url = normalizeUrl(deps, kind, request.url);
  const id = randomUUID();
  const stored = {
    id,
    orgId,
    kind,
    url,
    host: new URL(url).host,
    username: resolveUsername(kind, username),
    sealedToken: sealToken(deps, id, url, secret),
    createdBy: userId ?? null,
    ...(await findCovered(deps, url, secret, request)),
  };
  const isChecked = await checkCredential(deps, stored);
  return inLockedTransaction(deps.em, [`git connections ${orgId}`], async (em) => {
    const others = await em.find(GitConnection, { orgId });
    if (others.length >= MAX_CONNECTIONS)
      throw new ServiceError("conflict", `An organization can have at most ${MAX_CONNECTIONS} git connections.`);
    if (others.some((other) => other.host === stored.host && (other.repositories ?? null) === stored.repositories))
      throw new ServiceError(
        "conflict",
        `There is a connection to ${stored.host} for the same repositories. Change its token, or delete it.`,
      );
    return toView(em.create(GitConnection, { ...stored, checkedAt: isChecked ? new Date() : null }));
  });
}

/** Returns for which repositories a connection is. A GitHub App is for those of the account that has installed it. */
async function findCovered(
  deps: ChangeGitConnectionDeps,
  url: string,
  secret: string,
  { kind, github_app_id, ...given }: CreateGitConnection,
): Promise<{ repositories: string | null; appId: string | null; installationId: number | null }> {
  const [installationId, repositories] = [given.installation_id ?? null, given.repositories ?? null];
  if (kind !== "github_app") {
    if (github_app_id === undefined && installationId === null)
      return { repositories, appId: null, installationId: null };
    const field = github_app_id === undefined ? "installation_id" : "github_app_id";
    throw new ServiceError("invalid", `${field}: is for the kind "github_app" only.`);
  }
  const appId = checkAppId(github_app_id);
  try {
    const app = { url, appId, privateKey: secret };
    const { id, account } = await findInstallation(deps, app, { installationId, repositories });
    return { repositories: repositories ?? account, appId, installationId: id };
  } catch (error) {
    throw toServiceError(error, { kind, host: new URL(url).host }, null);
  }
}
