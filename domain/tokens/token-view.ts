import type { Selectable } from "kysely";
import type { Scope, TokenKind } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { DatabaseTables } from "../database-types.ts";

/** A machine token as its owner sees it again: never the token itself. */
export interface TokenView {
  id: string;
  kind: TokenKind;
  /** The first characters of the token, to recognise it by. */
  prefix: string;
  name: string;
  scope: Scope;
  agent_id: string | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
}

/** A token that was just made: the only time it is shown. */
export type IssuedToken = TokenView & { token: string };

export const TOKEN_COLUMNS = [
  ...(["id", "kind", "prefix", "name", "scope", "agent_id"] as const),
  ...(["created_at", "last_used_at", "expires_at"] as const),
] as const;

type TokenRow = Pick<Selectable<DatabaseTables["machine_tokens"]>, (typeof TOKEN_COLUMNS)[number]>;

export function tokenView(row: TokenRow): TokenView {
  const { created_at, last_used_at, expires_at, ...rest } = row;
  return {
    ...rest,
    created_at: timestamp(created_at),
    last_used_at: last_used_at === null ? null : timestamp(last_used_at),
    expires_at: expires_at === null ? null : timestamp(expires_at),
  };
}

function timestamp(value: unknown): string {
  return new Date(value as string).toISOString();
}

/** One answer for a token that never was, is revoked, or belongs to somebody else. */
export function tokenNotFound(): ServiceError {
  return new ServiceError("not_found", "Token not found");
}
