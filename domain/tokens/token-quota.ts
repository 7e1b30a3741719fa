import type { TokenKind } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { acquireAdvisoryLock } from "../shared/advisory-lock.ts";
import type { Db } from "../database-types.ts";
import { SHARED_KINDS } from "./token-permissions.ts";

/** How many tokens may be in force at once: of an organization for its machines, and of one of its people. */
const MOST_SHARED = 1000;
const MOST_OWN = 100;

export interface TokenOwner {
  kind: TokenKind;
  orgId: string;
  userId: string | null;
}

/**
 * Makes sure that there is room for one more token, until the transaction of `db` ends. What a person makes for themselves
 * takes nothing away from the organization, or a member could keep its admins from making any.
 *
 * @throws {ServiceError} `conflict`
 */
export async function reserveToken(db: Db, owner: TokenOwner): Promise<void> {
  const most = mostOf(owner);
  if ((await countUnderLock(db, owner)) < most) return;
  throw new ServiceError("conflict", `${said(owner, most)}. Revoke those that nobody uses, then try again.`);
}

/**
 * The same for a token that replaces one which stays good for a while. Each may have such a successor, so that whoever has
 * no room left can still rotate.
 *
 * @throws {ServiceError} `conflict`
 */
export async function reserveSuccessor(db: Db, owner: TokenOwner): Promise<void> {
  const most = 2 * mostOf(owner);
  if ((await countUnderLock(db, owner)) < most) return;
  const way = "Revoke those that nobody uses, or rotate with the overlap `none`.";
  throw new ServiceError("conflict", `${said(owner, most)}, with those that were replaced. ${way}`);
}

function mostOf({ kind }: TokenOwner): number {
  return kind === "personal_access_token" ? MOST_OWN : MOST_SHARED;
}

function said({ kind }: TokenOwner, most: number): string {
  return kind === "personal_access_token"
    ? `There is no room left: a person has at most ${most} personal access tokens in force in an organization`
    : `There is no room left: an organization has at most ${most} API keys and gateway tokens in force`;
}

/** Whoever wants another one of the same tokens waits for the count, and nobody else does. */
async function countUnderLock(db: Db, { kind, orgId, userId }: TokenOwner): Promise<number> {
  const owner = kind === "personal_access_token" ? userId : null;
  await acquireAdvisoryLock(db, `tokens ${orgId} ${owner ?? ""}`);
  const { held } = await db
    .selectFrom("machine_tokens")
    .select(({ fn }) => fn.countAll<string | number>().as("held"))
    .where("org_id", "=", orgId)
    .where("revoked_at", "is", null)
    .where(({ or, eb }) => or([eb("expires_at", "is", null), eb("expires_at", ">", new Date().toISOString() as never)]))
    .$if(owner === null, (query) => query.where("kind", "in", SHARED_KINDS))
    .$if(owner !== null, (query) => query.where("kind", "=", "personal_access_token").where("user_id", "=", owner))
    .executeTakeFirstOrThrow();
  return Number(held);
}
