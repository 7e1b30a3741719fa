import { randomUUID } from "node:crypto";
import type { SqlEntityManager } from "@mikro-orm/sql";
import type { GitHostKind } from "../ports/git-hosts.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import {
  checkCredential,
  checkRepositories,
  checkGitToken,
  type GitConnectionDeps,
  type GitConnectionView,
  normalizeUrl,
  resolveUsername,
  sealToken,
  toAccess,
  toView,
} from "./git-connection-rules.ts";
import { GitConnection } from "./git-connection.entity.ts";

export interface ChangeGitConnectionDeps extends GitConnectionDeps {
  em: SqlEntityManager;
}

export interface CreateGitConnection {
  kind: GitHostKind;
  /** By default that of GitHub, GitLab or Bitbucket. */
  url?: string | undefined;
  token: string;
  /** By default what the kind of host expects beside a token. */
  username?: string | undefined;
  /** Whose repositories it is for: an owner, or one repository as owner/name; by default all of the host. */
  repositories?: string | undefined;
}

const MAX_CONNECTIONS = 100;

/**
 * Connects an organization to a git host, after the host has accepted the token.
 *
 * @throws {ServiceError} `invalid` for a value that is not allowed, or a token that the host does not accept; `conflict` when the
 *   organization has too many connections, or one for the same repositories
 */
export async function createGitConnection(
  deps: ChangeGitConnectionDeps,
  { orgId, userId }: Caller,
  { kind, url: wantedUrl, token, username: wantedUsername, repositories }: CreateGitConnection,
): Promise<GitConnectionView> {
  checkGitToken(token);
  checkRepositories(repositories);
  const url = normalizeUrl(deps, kind, wantedUrl);
  const id = randomUUID();
  const stored = {
    id,
    orgId,
    kind,
    url,
    host: new URL(url).host,
    repositories: repositories ?? null,
    username: resolveUsername(kind, wantedUsername),
    sealedToken: sealToken(deps, id, url, token),
    createdBy: userId ?? null,
  };
  const isChecked = await checkCredential(deps, toAccess(deps, stored), stored.repositories);
  return inLockedTransaction(deps.em, [`git connections ${orgId}`], async (em) => {
    const others = await em.find(GitConnection, { orgId });
    if (others.length >= MAX_CONNECTIONS)
      throw new ServiceError("conflict", `An organization can have at most ${MAX_CONNECTIONS} git connections.`);
    if (others.some((other) => other.host === stored.host && other.repositories === stored.repositories))
      throw new ServiceError(
        "conflict",
        `There is a connection to ${stored.host} for the same repositories. Change its token, or delete it.`,
      );
    return toView(em.create(GitConnection, { ...stored, checkedAt: isChecked ? new Date() : null }));
  });
}
