import { Migration } from "@mikro-orm/migrations";

/**
 * The OAuth clients that users have connected. An access token is valid only while its connection exists. Clients that are
 * connected already get a connection from their refresh tokens.
 */
export class Migration20261122040000_oauth_connections extends Migration {
  override name = "Migration20261122040000_oauth_connections";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "auth"."oauthConnection" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "userId" uuid not null references "auth"."user" ("id") on delete cascade, "clientId" text not null references "auth"."oauthClient" ("clientId") on delete cascade, "scope" text not null, "organizationId" uuid null, "connectedAt" timestamptz not null, "lastUsedAt" timestamptz not null, unique ("userId", "clientId"));`,
    );
    this.addSql(`create index "oauthConnection_clientId_idx" on "auth"."oauthConnection" ("clientId");`);
    this.addSql(
      `insert into "auth"."oauthConnection" ("userId", "clientId", "scope", "connectedAt", "lastUsedAt")
       select "userId", "clientId", coalesce((array_agg((select string_agg(value, ' ') from jsonb_array_elements_text("scopes")) order by "createdAt" desc))[1], ''), min("createdAt"), max("createdAt")
       from "auth"."oauthRefreshToken" where "revoked" is null group by "userId", "clientId";`,
    );
  }
}
