import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Caller, Scope, TokenKind } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { queryBuilderOf } from "../database-types.ts";
import { MachineToken } from "./machine-token.entity.ts";
import { mintToken } from "./mint-token.ts";
import { checkMayIssue } from "./token-permissions.ts";
import { reserveToken } from "./token-quota.ts";
import type { IssuedToken } from "./token-view.ts";

export interface IssueTokenDeps {
  em: EntityManager;
}

export interface TokenRequest {
  kind: TokenKind;
  name: string;
  scope: Scope;
  /** RFC 3339; left out, the token lasts until it is revoked. */
  expires_at?: string | undefined;
  /** The agent that a gateway token is for. */
  agent_id?: string | undefined;
}

/**
 * Makes a token for the caller's organization. The answer holds the only copy of it.
 *
 * @throws {ServiceError} `forbidden` when the caller's role does not reach so far, `invalid` for a time that is past,
 *   `conflict` when there are as many tokens as there may be
 */
export async function issueToken(
  { em: root }: IssueTokenDeps,
  caller: Caller,
  request: TokenRequest,
): Promise<IssuedToken> {
  checkMayIssue(caller, request.kind);
  if ((request.kind === "gateway_token") !== (request.agent_id !== undefined))
    throw new ServiceError("invalid", "agent_id: a gateway token is for one agent, and no other kind is.");
  const expiresAt = request.expires_at === undefined ? undefined : new Date(request.expires_at);
  if (expiresAt !== undefined && expiresAt.getTime() <= Date.now())
    throw new ServiceError("invalid", "expires_at: must be in the future.");
  const { kind, name, scope, agent_id: agentId } = request;
  const owner = { kind, orgId: caller.orgId, userId: kind === "gateway_token" ? null : caller.userId };
  return (root as SqlEntityManager).fork().transactional(async (em) => {
    await reserveToken(queryBuilderOf(em), owner);
    const { token, id } = mintToken(em, { ...owner, name, scope, agentId, expiresAt });
    await em.flush();
    return issued(await em.findOneOrFail(MachineToken, { id }), token);
  });
}

export function issued(record: MachineToken, token: string): IssuedToken {
  const { id, kind, prefix, name, scope, agentId, createdAt, lastUsedAt, expiresAt } = record;
  return {
    ...{ id, token, kind, prefix, name, scope, agent_id: agentId ?? null },
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    expires_at: expiresAt?.toISOString() ?? null,
  };
}
