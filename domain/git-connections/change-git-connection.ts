import type { Caller } from "../shared/caller.ts";
import { inTransaction } from "../shared/transaction.ts";
import type { ChangeGitConnectionDeps } from "./create-git-connection.ts";
import {
  checkCredential,
  checkSecret,
  connectionNotFound,
  type GitConnectionView,
  type GivenCredential,
  resolveUsername,
  sealToken,
  toView,
} from "./git-connection-rules.ts";
import { GitConnection } from "./git-connection.entity.ts";

export interface UpdateGitConnection extends GivenCredential {
  id: string;
  /** By default as before. */
  username?: string | undefined;
}

/**
 * Replaces the token of a connection, or the private key of a GitHub App, after the host has accepted the new one.
 *
 * @throws {ServiceError} `not_found`; `invalid` for a token that the host does not accept
 */
export async function updateGitConnection(
  deps: ChangeGitConnectionDeps,
  { orgId }: Caller,
  { id, username, ...given }: UpdateGitConnection,
): Promise<GitConnectionView> {
  const before = await deps.em.fork().findOne(GitConnection, { id, orgId });
  if (before === null) throw connectionNotFound();
  const { kind, url } = before;
  const changed = {
    username: username === undefined ? before.username : resolveUsername(kind, username),
    sealedToken: sealToken(deps, id, url, checkSecret(kind, given)),
  };
  const { appId, installationId, repositories } = before;
  const isChecked = await checkCredential(deps, { id, kind, url, appId, installationId, repositories, ...changed });
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
