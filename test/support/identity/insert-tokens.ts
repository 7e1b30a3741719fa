import type { TokenKind } from "../../../domain/shared/caller.ts";
import type { Harness } from "../service/harness.ts";

export interface InsertedTokens {
  orgId: string;
  kind: TokenKind;
  count: number;
  userId?: string;
  /** When the tokens expired or were revoked, in days before now. By default they are valid. */
  ended?: { column: "expires_at" | "revoked_at"; daysAgo: number };
}

/** Inserts tokens whose secrets are unknown. */
export async function insertTokens({ service }: Harness, tokens: InsertedTokens): Promise<void> {
  const { orgId, kind, count, userId = null, ended } = tokens;
  const timestamp = (column: string) =>
    ended?.column === column ? `now() - interval '${ended.daysAgo} days'` : "null";
  await service.parts.orm.em.fork().execute(
    `insert into machine_tokens
       (id, kind, token_sha256, prefix, name, org_id, user_id, created_at, expires_at, revoked_at)
     select gen_random_uuid(), ?, gen_random_uuid(), 'svx_', 'given', ?, ?, now() - interval '1000 days',
       ${timestamp("expires_at")}, ${timestamp("revoked_at")} from generate_series(1, ${count})`,
    [kind, orgId, userId],
  );
}
