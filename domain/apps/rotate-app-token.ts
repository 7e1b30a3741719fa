import type { EntityManager } from "@mikro-orm/core";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import { OVERLAPS, type Rotation } from "../tokens/rotate-token.ts";
import { type AppStatus, isInProgress } from "./app-status.ts";
import { appToken } from "./app-token.ts";
import { appNotFound } from "./get-app.ts";
import { lockApp } from "./lock-app.ts";
import { type AuthEntryDeps, syncAuthEntry } from "./sync-auth-entry.ts";

export interface RotateAppTokenDeps extends AuthEntryDeps {
  changes: ChangeFeed;
}

export interface RotatedAppToken {
  app_token: string;
  /** When the previous token expires, RFC 3339 in UTC with milliseconds; `null` when it has expired already. */
  expires_previous_at: string | null;
}

/**
 * Issues a new token for an app. The previous token stays valid for the overlap; all older tokens become invalid
 * immediately. Concurrent rotations are safe: each returns a token that is valid at that moment. After a crash between
 * the record and the auth entry, the sweep updates the auth entry.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app; `conflict` while the app is not live
 */
export async function rotateAppToken(
  deps: RotateAppTokenDeps,
  { orgId }: Caller,
  rotation: Rotation,
): Promise<RotatedAppToken> {
  await inTransaction(deps.em, (em) => raiseVersion(em, orgId, rotation));
  const app = await syncAuthEntry(deps, rotation.id);
  deps.changes.announce(orgId);
  if (app === null) throw appNotFound();
  return {
    app_token: appToken(deps.tokenSecret, app),
    expires_previous_at: app.previousTokenUntil?.toISOString() ?? null,
  };
}

async function raiseVersion(em: EntityManager, orgId: string, { id, overlap }: Rotation): Promise<void> {
  const app = await lockApp(em, { id, orgId });
  if (app.status === "deleting" || app.liveDeploymentId === null) throw notLive(app.status);
  app.tokenVersion += 1;
  app.previousTokenUntil = overlap === "none" ? null : new Date(Date.now() + OVERLAPS[overlap]);
  app.updatedAt = new Date();
  await em.flush();
}

function notLive(status: AppStatus): ServiceError {
  const advice = isInProgress(status)
    ? "Its token can be rotated once its status is `ready`; wait for that."
    : "Only the token of an app whose status is `ready` can be rotated.";
  return new ServiceError("conflict", `The app is \`${status}\`. ${advice}`);
}
