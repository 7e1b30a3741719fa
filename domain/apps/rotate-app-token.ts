import { type EntityManager, LockMode } from "@mikro-orm/core";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import { OVERLAPS, type Rotation } from "../tokens/rotate-token.ts";
import { App } from "./app.entity.ts";
import { appNotFound } from "./app-not-found.ts";
import { type AppStatus, IN_PROGRESS } from "./app-status.ts";
import { appToken } from "./app-token.ts";
import { type AuthEntryDeps, syncAuthEntry } from "./sync-auth-entry.ts";

export interface RotateAppTokenDeps extends AuthEntryDeps {
  changes: ChangeFeed;
}

export interface RotatedAppToken {
  app_token: string;
  /** Until when the token before it is good as well, RFC 3339 in UTC with milliseconds; `null` when it is not. */
  expires_previous_at: string | null;
}

/**
 * Gives an app a new token. The one before it stays good for the overlap, any earlier one ends at once. Of several
 * rotations at once all answer with a token that counts when they answer. A crash in the middle leaves the new token in
 * the record, and the sweep brings it to the app.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app; `conflict` while the app is not `ready`
 */
export async function rotateAppToken(
  deps: RotateAppTokenDeps,
  { orgId }: Caller,
  rotation: Rotation,
): Promise<RotatedAppToken> {
  await deps.em.fork().transactional((em) => raiseVersion(em, orgId, rotation));
  const app = await syncAuthEntry(deps, rotation.id);
  deps.changes.announce(orgId);
  if (app === null) throw appNotFound();
  return {
    app_token: appToken(deps.tokenSecret, app),
    expires_previous_at: app.previousTokenUntil?.toISOString() ?? null,
  };
}

async function raiseVersion(em: EntityManager, orgId: string, { id, overlap }: Rotation): Promise<void> {
  const app = await em.findOne(App, { id, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (app === null) throw appNotFound();
  if (app.status !== "ready") throw notReady(app.status);
  app.tokenVersion += 1;
  app.previousTokenUntil = overlap === "none" ? null : new Date(Date.now() + OVERLAPS[overlap]);
  app.updatedAt = new Date();
  await em.flush();
}

function notReady(status: AppStatus): ServiceError {
  const advice = (IN_PROGRESS as readonly string[]).includes(status)
    ? "Its token can be rotated once its status is `ready`; wait for that."
    : "Only the token of an app whose status is `ready` can be rotated.";
  return new ServiceError("conflict", `The app is \`${status}\`. ${advice}`);
}
