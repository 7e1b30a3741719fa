import type { TokenKind } from "../../../domain/shared/caller.ts";
import type { Harness } from "../service/harness.ts";

export interface GivenTokens {
  orgId: string;
  kind: TokenKind;
  count: number;
  userId?: string;
  /** How long ago they ran out or were revoked; left out, they are in force. */
  over?: { how: "expires_at" | "revoked_at"; days: number };
}

/** Puts tokens in the database that nobody knows. */
export async function givenTokens({ service }: Harness, tokens: GivenTokens): Promise<void> {
  const { orgId, kind, count, userId = null, over } = tokens;
  const ended = (column: string) => (over?.how === column ? `now() - interval '${over.days} days'` : "null");
  await service.parts.orm.em.fork().execute(
    `insert into machine_tokens
       (id, kind, token_sha256, prefix, name, org_id, user_id, created_at, expires_at, revoked_at)
     select gen_random_uuid(), ?, gen_random_uuid(), 'svx_', 'given', ?, ?, now() - interval '1000 days',
       ${ended("expires_at")}, ${ended("revoked_at")} from generate_series(1, ${count})`,
    [kind, orgId, userId],
  );
}
