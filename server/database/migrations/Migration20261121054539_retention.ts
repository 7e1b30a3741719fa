import { Migration } from "@mikro-orm/migrations";

/** Everything that is looked for by its age, to be deleted, is found by an index. */
export class Migration20261121054539_retention extends Migration {
  override name = "Migration20261121054539_retention";

  override up(): void | Promise<void> {
    this.addSql(`create index "audit_events_created_at_index" on "audit_events" ("created_at");`);
    this.addSql(`create index "machine_tokens_expires_at_index" on "machine_tokens" ("expires_at");`);
    this.addSql(`create index "machine_tokens_revoked_at_index" on "machine_tokens" ("revoked_at");`);

    for (const table of [
      ...["session", "verification", "deviceCode"],
      ...["oauthAccessToken", "oauthRefreshToken", "oauthClientAssertion"],
    ])
      this.addSql(`create index "${table}_expiresAt_idx" on "auth"."${table}" ("expiresAt");`);

    // What a provider would let us do with somebody's account there is not kept any more.
    this.addSql(
      `update "auth"."account" set "accessToken" = null, "refreshToken" = null, "idToken" = null, "accessTokenExpiresAt" = null, "refreshTokenExpiresAt" = null;`,
    );

    // Nobody wrote down so far when a client was used: those there are start anew.
    this.addSql(`alter table "auth"."oauthClient" add "lastUsedAt" timestamptz null;`);
    this.addSql(`update "auth"."oauthClient" set "lastUsedAt" = now();`);
    this.addSql(`create index "oauthClient_lastUsedAt_idx" on "auth"."oauthClient" ("lastUsedAt");`);
    this.addSql(
      `create index "oauthClient_unused_createdAt_idx" on "auth"."oauthClient" ("createdAt") where "lastUsedAt" is null;`,
    );
  }
}
