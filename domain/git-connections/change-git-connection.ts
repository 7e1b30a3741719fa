import type { Caller } from "../shared/caller.ts";
import { inTransaction } from "../shared/transaction.ts";
import type { ChangeGitConnectionDeps } from "./create-git-connection.ts";
import {
  checkCredential,
  checkGitToken,
  connectionNotFound,
  type GitConnectionView,
  resolveUsername,
  sealToken,
  toAccess,
  toView,
} from "./git-connection-rules.ts";
import { GitConnection } from "./git-connection.entity.ts";

export interface UpdateGitConnection {
  id: string;
  token: string;
  /** By default as before. */
  username?: string | undefined;
}

/**
 * Replaces the token of a connection, after the host has accepted the new one.
 *
 * @throws {ServiceError} `not_found`; `invalid` for a token that the host does not accept
 */
export async function updateGitConnection(
  deps: ChangeGitConnectionDeps,
  { orgId }: Caller,
  { id, token, username }: UpdateGitConnection,
): Promise<GitConnectionView> {
  checkGitToken(token);
  const before = await deps.em.fork().findOne(GitConnection, { id, orgId });
  if (before === null) throw connectionNotFound();
  const { kind, url, repositories = null } = before;
  const changed = {
    username: username === undefined ? before.username : resolveUsername(kind, username),
    sealedToken: sealToken(deps, id, url, token),
  };
  const isChecked = await checkCredential(deps, toAccess(deps, { id, kind, url, ...changed }), repositories);
  return inTransaction(deps.em, async (em) => {
    const connection = await em.findOne(GitConnection, { id, orgId });
    if (connection === null) throw connectionNotFound();
    return toView(em.assign(connection, { ...changed, checkedAt: isChecked ? new Date() : null }));
  });
}

/**
 * Deletes a connection with its token. Deployments that have not fetched their source yet fail, if they need it.
 *
 * @throws {ServiceError} `not_found`
 */
export async function deleteGitConnection(
  { em }: Pick<ChangeGitConnectionDeps, "em">,
  { orgId }: Caller,
  id: string,
): Promise<{ status: "deleted" }> {
  if ((await em.fork().nativeDelete(GitConnection, { id, orgId })) === 0) throw connectionNotFound();
  return { status: "deleted" };
}
