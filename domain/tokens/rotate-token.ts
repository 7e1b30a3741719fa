import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Caller } from "../shared/caller.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import { queryBuilderOf } from "../database-types.ts";
import { issued } from "./issue-token.ts";
import { MachineToken } from "./machine-token.entity.ts";
import { mintToken } from "./mint-token.ts";
import { reserveSuccessor } from "./token-quota.ts";
import { selectTokens } from "./select-tokens.ts";
import { type IssuedToken, tokenNotFound } from "./token-view.ts";

/** How long the old token stays good beside the new one, in milliseconds. */
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
 * Makes a token that may do what another one may, and lets that one run out. Both happen or neither; a token that runs
 * out sooner by itself is not prolonged, and the new one has the life that the old one was given.
 *
 * @throws {ServiceError} `not_found` for a token that the caller may not manage, that is revoked, or that has run out,
 *   `conflict` when too many replaced tokens are still good
 */
export async function rotateToken(
  { em: root, accessChanges }: RotateTokenDeps,
  caller: Caller,
  { id, overlap }: Rotation,
): Promise<IssuedToken> {
  const now = Date.now();
  const answer = await (root as SqlEntityManager).fork().transactional(async (em) => {
    const found = await selectTokens(queryBuilderOf(em), caller).where("id", "=", id).forUpdate().executeTakeFirst();
    if (found === undefined) throw tokenNotFound();
    const old = await em.findOneOrFail(MachineToken, { id });
    const oldEnd = old.expiresAt?.getTime() ?? Infinity;
    if (oldEnd <= now) throw tokenNotFound();
    const life = oldEnd - old.createdAt.getTime();
    const owner = { kind: old.kind, orgId: old.orgId, userId: old.userId ?? null };
    if (overlap !== "none") await reserveSuccessor(queryBuilderOf(em), owner);
    const { token, id: newId } = mintToken(em, {
      ...{ ...owner, name: old.name, scope: old.scope, agentId: old.agentId ?? undefined },
      expiresAt: life === Infinity ? undefined : new Date(now + life),
    });
    old.expiresAt = new Date(Math.min(oldEnd, now + OVERLAPS[overlap]));
    await em.flush();
    return issued(await em.findOneOrFail(MachineToken, { id: newId }), token);
  });
  accessChanges.announce(caller.orgId);
  return answer;
}
