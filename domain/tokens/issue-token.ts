import type { EntityManager } from "@mikro-orm/core";
import type { Caller, TokenKind } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { Scope } from "../shared/scopes.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { queryBuilderOf, type Db } from "../database-types.ts";
import { MachineToken } from "./machine-token.entity.ts";
import { mintToken } from "./mint-token.ts";
import { checkMayIssue, isOperator } from "./token-permissions.ts";
import { lockOfTokens, reserveTokenSlot } from "./token-quota.ts";
import { type IssuedToken, toIssuedToken } from "./token-view.ts";

export interface IssueTokenDeps {
  em: EntityManager;
}

export interface TokenRequest {
  kind: TokenKind;
  name: string;
  scope: Scope;
  /** RFC 3339; a token without it is valid until it is revoked. */
  expires_at?: string | undefined;
  /** The agent of a gateway token. */
  agent_id?: string | undefined;
}

/**
 * Issues a token of the caller's organization. The response contains its only copy. A personal access token and an API
 * key record the caller's user, or the first owner of the organization if the caller is the operator.
 *
 * @throws {ServiceError} `forbidden` when the caller's role or credential may not issue this kind of token, `invalid` for
 *   an expiry in the past or a missing agent, `not_found` when the organization has no such agent, `conflict` when the token
 *   quota is used up
 */
export async function issueToken(
  { em: root }: IssueTokenDeps,
  caller: Caller,
  request: TokenRequest,
): Promise<IssuedToken> {
  const { kind, name, scope, agent_id: agentId } = request;
  checkMayIssue(caller, kind);
  if ((kind === "gateway_token") !== (agentId !== undefined))
    throw new ServiceError("invalid", "agent_id: required for a gateway token, and not allowed for other kinds.");
  const expiresAt = parseExpiry(request.expires_at);
  return inLockedTransaction(root, [lockOfTokens(caller.orgId)], async (em) => {
    const db = queryBuilderOf(em);
    const userId = kind === "gateway_token" ? null : await findUserId(db, caller);
    const owner = { kind, orgId: caller.orgId, userId };
    if (agentId !== undefined) await lockAgent(db, caller.orgId, agentId);
    await reserveTokenSlot(db, owner);
    const { token, id } = mintToken(em, { ...owner, name, scope, agentId, expiresAt });
    await em.flush();
    return toIssuedToken(await em.findOneOrFail(MachineToken, { id }), token);
  });
}

/** Locks the agent of a new token, which must not be deleted before the token is stored: deleting it revokes its tokens. */
async function lockAgent(db: Db, orgId: string, id: string): Promise<void> {
  const agents = db.selectFrom("agents").select("id").where("id", "=", id).where("org_id", "=", orgId);
  if ((await agents.forShare().executeTakeFirst()) === undefined)
    throw new ServiceError(
      "not_found",
      "agent_id: no such agent in the organization. GET /v1/servers lists the agents.",
    );
}

function parseExpiry(expiresAt: string | undefined): Date | undefined {
  if (expiresAt === undefined) return undefined;
  const date = new Date(expiresAt);
  if (date.getTime() <= Date.now()) throw new ServiceError("invalid", "expires_at: must be in the future.");
  return date;
}

async function findUserId(db: Db, caller: Caller): Promise<string | null> {
  if (!isOperator(caller)) return caller.userId;
  const { userId } = await db
    .selectFrom("auth.member")
    .select("userId")
    .where("organizationId", "=", caller.orgId)
    .where("role", "=", "owner")
    .orderBy("createdAt")
    .executeTakeFirstOrThrow();
  return userId;
}
