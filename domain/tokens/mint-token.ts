import { randomBytes } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import type { TokenKind } from "../shared/caller.ts";
import type { Scope } from "../shared/scopes.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { MachineToken } from "./machine-token.entity.ts";
import { formatToken, type TokenPrefix } from "./token-format.ts";

const PREFIX_BY_KIND = {
  api_key: "svk",
  personal_access_token: "svp",
  gateway_token: "svg",
} as const satisfies Record<TokenKind, TokenPrefix>;

/** How much of a token is stored and shown for recognition: the prefix and eight random characters. */
const VISIBLE_LENGTH = 12;

export interface NewToken {
  kind: TokenKind;
  name: string;
  orgId: string;
  userId: string | null;
  agentId?: string | undefined;
  scope?: Scope | undefined;
  expiresAt?: Date | undefined;
}

/**
 * Creates a machine token in the transaction of `em`. The returned text is its only copy: the database stores its hash.
 * Checks neither permissions nor the quota.
 */
export function mintToken(em: Pick<EntityManager, "create">, request: NewToken): { id: string; token: string } {
  const token = formatToken(PREFIX_BY_KIND[request.kind], randomBytes(32));
  const { expiresAt = null } = request;
  const record = em.create(MachineToken, {
    kind: request.kind,
    name: request.name,
    orgId: request.orgId,
    userId: request.userId,
    agentId: request.agentId ?? null,
    scope: request.scope ?? "everything",
    tokenSha256: sha256Hex(token),
    prefix: token.slice(0, VISIBLE_LENGTH),
    expiresAt,
    lifetimeSeconds: expiresAt === null ? null : Math.ceil((expiresAt.getTime() - Date.now()) / 1000),
  });
  return { id: record.id, token };
}
