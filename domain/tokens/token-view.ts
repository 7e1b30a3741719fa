import type { Selectable } from "kysely";
import type { TokenKind } from "../shared/caller.ts";
import type { Scope } from "../shared/scopes.ts";
import { ServiceError } from "../shared/errors.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import type { DatabaseTables } from "../database-types.ts";
import type { MachineToken } from "./machine-token.entity.ts";

/** A machine token without its secret. */
export interface TokenView {
  id: string;
  kind: TokenKind;
  /** The first characters of the token, for recognition. */
  prefix: string;
  name: string;
  scope: Scope;
  /** The agent of a gateway token. */
  agent_id: string | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
}

/** A new token with its secret. The secret is returned only once. */
export type IssuedToken = TokenView & { token: string };

export const TOKEN_COLUMNS = [
  "id",
  "kind",
  "prefix",
  "name",
  "scope",
  "agent_id",
  "created_at",
  "last_used_at",
  "expires_at",
] as const;

type TokenRow = Pick<Selectable<DatabaseTables["machine_tokens"]>, (typeof TOKEN_COLUMNS)[number]>;

export function toTokenView(row: TokenRow): TokenView {
  const { created_at, last_used_at, expires_at, ...rest } = row;
  return {
    ...rest,
    created_at: toIsoTimestamp(created_at),
    last_used_at: last_used_at === null ? null : toIsoTimestamp(last_used_at),
    expires_at: expires_at === null ? null : toIsoTimestamp(expires_at),
  };
}

export function toIssuedToken(record: MachineToken, token: string): IssuedToken {
  return {
    id: record.id,
    token,
    kind: record.kind,
    prefix: record.prefix,
    name: record.name,
    scope: record.scope,
    agent_id: record.agentId ?? null,
    created_at: record.createdAt.toISOString(),
    last_used_at: record.lastUsedAt?.toISOString() ?? null,
    expires_at: record.expiresAt?.toISOString() ?? null,
  };
}

/** The same error for a token that is unknown, revoked or not manageable by the caller. */
export function tokenNotFound(): ServiceError {
  return new ServiceError("not_found", "Token not found");
}
