import type { TokenKind } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { Db } from "../database-types.ts";
import { SHARED_KINDS } from "./token-permissions.ts";

/** The maximum number of valid tokens: API keys and gateway tokens of an organization, and personal tokens of a member. */
const MAX_SHARED_TOKENS = 1000;
const MAX_PERSONAL_TOKENS = 100;

export interface TokenOwner {
  kind: TokenKind;
  orgId: string;
  userId: string | null;
}

/** The lock of transactions that count the tokens of an organization: simultaneous requests for the same quota wait. */
export function lockOfTokens(orgId: string): string {
  return `tokens ${orgId}`;
}

/**
 * Checks the quota for one more token, in a transaction that holds `lockOfTokens`. Personal access tokens have a separate
 * quota: otherwise a member could use up the quota of the organization.
 *
 * @throws {ServiceError} `conflict` when the quota is used up
 */
export async function reserveTokenSlot(db: Db, owner: TokenOwner): Promise<void> {
  const limit = limitOf(owner);
  if ((await countValid(db, owner)) < limit) return;
  throw new ServiceError("conflict", `${describeLimit(owner, limit)}. Revoke unused tokens, then try again.`);
}

/**
 * Checks the quota for a token that replaces one which remains valid for a while. Twice the number of tokens is allowed,
 * so that every token can be rotated even when the quota is used up.
 *
 * @throws {ServiceError} `conflict`
 */
export async function reserveSuccessorSlot(db: Db, owner: TokenOwner): Promise<void> {
  const limit = 2 * limitOf(owner);
  if ((await countValid(db, owner)) < limit) return;
  const advice = "Revoke unused tokens, or rotate with the overlap `none`.";
  throw new ServiceError("conflict", `${describeLimit(owner, limit)}, including replaced ones. ${advice}`);
}

function limitOf({ kind }: TokenOwner): number {
  return kind === "personal_access_token" ? MAX_PERSONAL_TOKENS : MAX_SHARED_TOKENS;
}

function describeLimit({ kind }: TokenOwner, limit: number): string {
  return kind === "personal_access_token"
    ? `Token limit reached: a user can have at most ${limit} valid personal access tokens in an organization`
    : `Token limit reached: an organization can have at most ${limit} valid API keys and gateway tokens`;
}

async function countValid(db: Db, { kind, orgId, userId }: TokenOwner): Promise<number> {
  const owner = kind === "personal_access_token" ? userId : null;
  const { count } = await db
    .selectFrom("machine_tokens")
    .select(({ fn }) => fn.countAll<string | number>().as("count"))
    .where("org_id", "=", orgId)
    .where("revoked_at", "is", null)
    .where(({ or, eb }) => or([eb("expires_at", "is", null), eb("expires_at", ">", new Date().toISOString() as never)]))
    .$if(owner === null, (query) => query.where("kind", "in", SHARED_KINDS))
    .$if(owner !== null, (query) => query.where("kind", "=", "personal_access_token").where("user_id", "=", owner))
    .executeTakeFirstOrThrow();
  return Number(count);
}
