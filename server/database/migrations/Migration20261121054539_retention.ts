import { Migration } from "@mikro-orm/migrations";

/** Adds an index for each column that the purge of expired records searches by age. */
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

    // The service no longer stores the tokens of social providers.
    this.addSql(
      `update "auth"."account" set "accessToken" = null, "refreshToken" = null, "idToken" = null, "accessTokenExpiresAt" = null, "refreshTokenExpiresAt" = null;`,
    );

    // The last use of existing clients is not known, so their idle time starts now.
    this.addSql(`alter table "auth"."oauthClient" add "lastUsedAt" timestamptz null;`);
    this.addSql(`update "auth"."oauthClient" set "lastUsedAt" = now();`);
    this.addSql(`create index "oauthClient_lastUsedAt_idx" on "auth"."oauthClient" ("lastUsedAt");`);
    this.addSql(
      `create index "oauthClient_unused_createdAt_idx" on "auth"."oauthClient" ("createdAt") where "lastUsedAt" is null;`,
    );
  }
}
