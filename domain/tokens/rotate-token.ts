import type { EntityManager } from "@mikro-orm/core";
import type { Caller } from "../shared/caller.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import { queryBuilderOf } from "../database-types.ts";
import { MachineToken } from "./machine-token.entity.ts";
import { mintToken } from "./mint-token.ts";
import { lockOfTokens, reserveSuccessorSlot } from "./token-quota.ts";
import { selectTokens } from "./select-tokens.ts";
import { type IssuedToken, tokenNotFound, toIssuedToken } from "./token-view.ts";

/** How long the old token remains valid after a rotation, in milliseconds. */
export const OVERLAPS = { none: 0, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;

export interface RotateTokenDeps {
  em: EntityManager;
  accessChanges: ChangeFeed;
}

export interface Rotation {
  id: string;
  overlap: keyof typeof OVERLAPS;
}

/**
 * Issues a token with the same permissions as an existing one, and lets the existing token expire after the overlap, in
 * one transaction. A token that would expire before that is not extended. The new token has the lifetime that the old one
 * was created with.
 *
 * @throws {ServiceError} `not_found` for a token that the caller may not manage, or that is revoked or expired,
 *   `conflict` when too many replaced tokens are still valid
 */
export async function rotateToken(
  { em: root, accessChanges }: RotateTokenDeps,
  caller: Caller,
  { id, overlap }: Rotation,
): Promise<IssuedToken> {
  const now = Date.now();
  const issued = await inLockedTransaction(root, [lockOfTokens(caller.orgId)], async (em) => {
    const db = queryBuilderOf(em);
    const found = await selectTokens(db, caller).where("id", "=", id).forUpdate().executeTakeFirst();
    if (found === undefined) throw tokenNotFound();
    const old = await em.findOneOrFail(MachineToken, { id });
    const expiry = old.expiresAt?.getTime() ?? Infinity;
    if (expiry <= now) throw tokenNotFound();
    const owner = { kind: old.kind, orgId: old.orgId, userId: old.userId ?? null };
    if (overlap !== "none") await reserveSuccessorSlot(db, owner);
    const { token, id: newId } = mintToken(em, {
      ...owner,
      name: old.name,
      scope: old.scope,
      agentId: old.agentId ?? undefined,
      expiresAt: old.lifetimeSeconds == null ? undefined : new Date(now + old.lifetimeSeconds * 1000),
    });
    old.expiresAt = new Date(Math.min(expiry, now + OVERLAPS[overlap]));
    await em.flush();
    return toIssuedToken(await em.findOneOrFail(MachineToken, { id: newId }), token);
  });
  accessChanges.announce(caller.orgId);
  return issued;
}
