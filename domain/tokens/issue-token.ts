import type { EntityManager } from "@mikro-orm/core";
import type { Caller, Scope, TokenKind } from "../caller.ts";
import { Refusal } from "../errors.ts";
import { MachineToken } from "./machine-token.entity.ts";
import { mintToken } from "./mint-token.ts";
import { checkMayIssue } from "./own-tokens.ts";
import type { IssuedToken } from "./token-view.ts";

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
 * @throws {Refusal} `forbidden` when the caller's role does not reach so far, `invalid` for a time that is past
 */
export async function issueToken(
  { em: root, caller }: { em: EntityManager; caller: Caller },
  request: TokenRequest,
): Promise<IssuedToken> {
  checkMayIssue(caller, request.kind);
  if ((request.kind === "gateway_token") !== (request.agent_id !== undefined))
    throw new Refusal("invalid", "agent_id: a gateway token is for one agent, and no other kind is.");
  const expiresAt = request.expires_at === undefined ? undefined : new Date(request.expires_at);
  if (expiresAt !== undefined && expiresAt.getTime() <= Date.now())
    throw new Refusal("invalid", "expires_at: must be in the future.");
  const em = root.fork();
  const { token, id } = mintToken(em, {
    ...{ kind: request.kind, name: request.name, scope: request.scope, agentId: request.agent_id },
    ...{ orgId: caller.orgId, userId: request.kind === "gateway_token" ? null : caller.userId, expiresAt },
  });
  await em.flush();
  return issued(await em.findOneOrFail(MachineToken, { id }), token);
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
