import { Migration } from "@mikro-orm/migrations";

export class Migration20261121021607_people extends Migration {
  override name = "Migration20261121021607_people";

  override up(): void | Promise<void> {
    this.addSql(`create schema if not exists "auth";`);
    this.addSql(
      `create table "auth"."user" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "name" text not null, "email" text not null unique, "emailVerified" boolean not null, "image" text, "createdAt" timestamptz default CURRENT_TIMESTAMP not null, "updatedAt" timestamptz default CURRENT_TIMESTAMP not null);`,
    );
    this.addSql(
      `create table "auth"."session" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "expiresAt" timestamptz not null, "token" text not null unique, "createdAt" timestamptz default CURRENT_TIMESTAMP not null, "updatedAt" timestamptz not null, "ipAddress" text, "userAgent" text, "userId" uuid not null references "auth"."user" ("id") on delete cascade, "activeOrganizationId" text);`,
    );
    this.addSql(
      `create table "auth"."account" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "accountId" text not null, "providerId" text not null, "userId" uuid not null references "auth"."user" ("id") on delete cascade, "accessToken" text, "refreshToken" text, "idToken" text, "accessTokenExpiresAt" timestamptz, "refreshTokenExpiresAt" timestamptz, "scope" text, "password" text, "createdAt" timestamptz default CURRENT_TIMESTAMP not null, "updatedAt" timestamptz not null);`,
    );
    this.addSql(
      `create table "auth"."verification" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "identifier" text not null, "value" text not null, "expiresAt" timestamptz not null, "createdAt" timestamptz default CURRENT_TIMESTAMP not null, "updatedAt" timestamptz default CURRENT_TIMESTAMP not null);`,
    );
    this.addSql(
      `create table "auth"."organization" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "name" text not null, "slug" text not null unique, "logo" text, "createdAt" timestamptz not null, "metadata" text);`,
    );
    this.addSql(
      `create table "auth"."member" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "organizationId" uuid not null references "auth"."organization" ("id") on delete cascade, "userId" uuid not null references "auth"."user" ("id") on delete cascade, "role" text not null, "createdAt" timestamptz not null);`,
    );
    this.addSql(
      `create table "auth"."invitation" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "organizationId" uuid not null references "auth"."organization" ("id") on delete cascade, "email" text not null, "role" text, "status" text not null, "expiresAt" timestamptz not null, "createdAt" timestamptz default CURRENT_TIMESTAMP not null, "inviterId" uuid not null references "auth"."user" ("id") on delete cascade);`,
    );
    this.addSql(
      `create table "auth"."jwks" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "publicKey" text not null, "privateKey" text not null, "createdAt" timestamptz not null, "expiresAt" timestamptz, "alg" text, "crv" text);`,
    );
    this.addSql(
      `create table "auth"."oauthClient" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "clientId" text not null unique, "clientSecret" text, "clientDiscoveryId" text, "disabled" boolean, "skipConsent" boolean, "enableEndSession" boolean, "subjectType" text, "scopes" jsonb, "clientCredentialsScopes" jsonb, "userId" uuid references "auth"."user" ("id") on delete cascade, "createdAt" timestamptz, "updatedAt" timestamptz, "name" text, "uri" text, "icon" text, "contacts" jsonb, "tos" text, "policy" text, "softwareId" text, "softwareVersion" text, "softwareStatement" text, "redirectUris" jsonb not null, "postLogoutRedirectUris" jsonb, "backchannelLogoutUri" text, "backchannelLogoutSessionRequired" boolean, "tokenEndpointAuthMethod" text, "applicationType" text, "jwks" text, "jwksUri" text, "grantTypes" jsonb, "responseTypes" jsonb, "requirePKCE" boolean, "dpopBoundAccessTokens" boolean, "referenceId" text, "metadata" jsonb);`,
    );
    this.addSql(
      `create table "auth"."oauthResource" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "identifier" text not null unique, "name" text not null, "accessTokenTtl" integer, "refreshTokenTtl" integer, "signingAlgorithm" text, "signingKeyId" text, "allowedScopes" jsonb, "customClaims" jsonb, "dpopBoundAccessTokensRequired" boolean, "disabled" boolean, "createdAt" timestamptz, "updatedAt" timestamptz, "policyVersion" integer, "metadata" jsonb);`,
    );
    this.addSql(
      `create table "auth"."oauthClientResource" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "clientId" text not null references "auth"."oauthClient" ("clientId") on delete cascade, "resourceId" text not null references "auth"."oauthResource" ("identifier") on delete cascade, "metadata" jsonb, "createdAt" timestamptz);`,
    );
    this.addSql(
      `create table "auth"."oauthRefreshToken" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "token" text not null unique, "clientId" text not null references "auth"."oauthClient" ("clientId") on delete cascade, "sessionId" uuid references "auth"."session" ("id") on delete set null, "userId" uuid not null references "auth"."user" ("id") on delete cascade, "referenceId" text, "authorizationCodeId" text, "resources" jsonb, "requestedUserInfoClaims" jsonb, "expiresAt" timestamptz not null, "createdAt" timestamptz not null, "revoked" timestamptz, "rotatedAt" timestamptz, "rotationReplayResponse" text, "rotationReplayExpiresAt" timestamptz, "authTime" timestamptz, "confirmation" jsonb, "scopes" jsonb not null);`,
    );
    this.addSql(
      `create table "auth"."oauthAccessToken" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "token" text not null unique, "clientId" text not null references "auth"."oauthClient" ("clientId") on delete cascade, "sessionId" uuid references "auth"."session" ("id") on delete set null, "userId" uuid references "auth"."user" ("id") on delete cascade, "referenceId" text, "authorizationCodeId" text, "resources" jsonb, "requestedUserInfoClaims" jsonb, "refreshId" uuid references "auth"."oauthRefreshToken" ("id") on delete cascade, "expiresAt" timestamptz not null, "createdAt" timestamptz not null, "revoked" timestamptz, "confirmation" jsonb, "scopes" jsonb not null);`,
    );
    this.addSql(
      `create table "auth"."oauthConsent" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "clientId" text not null references "auth"."oauthClient" ("clientId") on delete cascade, "userId" uuid references "auth"."user" ("id") on delete cascade, "referenceId" text, "resources" jsonb, "requestedUserInfoClaims" jsonb, "scopes" jsonb not null, "createdAt" timestamptz not null, "updatedAt" timestamptz not null);`,
    );
    this.addSql(
      `create table "auth"."oauthClientAssertion" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "expiresAt" timestamptz not null);`,
    );
    this.addSql(
      `create table "auth"."deviceCode" ("id" uuid default pg_catalog.gen_random_uuid() not null primary key, "deviceCode" text not null, "userCode" text not null, "userId" text, "expiresAt" timestamptz not null, "status" text not null, "lastPolledAt" timestamptz, "pollingInterval" integer, "clientId" text, "scope" text, "resources" jsonb, "oauthClientId" text);`,
    );
    this.addSql(`create index "session_userId_idx" on "auth"."session" ("userId");`);
    this.addSql(`create index "account_userId_idx" on "auth"."account" ("userId");`);
    this.addSql(`create index "verification_identifier_idx" on "auth"."verification" ("identifier");`);
    this.addSql(`create index "member_organizationId_idx" on "auth"."member" ("organizationId");`);
    this.addSql(`create index "member_userId_idx" on "auth"."member" ("userId");`);
    this.addSql(`create index "invitation_organizationId_idx" on "auth"."invitation" ("organizationId");`);
    this.addSql(`create index "invitation_email_idx" on "auth"."invitation" ("email");`);
    this.addSql(`create index "oauthClient_userId_idx" on "auth"."oauthClient" ("userId");`);
    this.addSql(`create index "oauthClientResource_clientId_idx" on "auth"."oauthClientResource" ("clientId");`);
    this.addSql(`create index "oauthClientResource_resourceId_idx" on "auth"."oauthClientResource" ("resourceId");`);
    this.addSql(`create index "oauthRefreshToken_clientId_idx" on "auth"."oauthRefreshToken" ("clientId");`);
    this.addSql(`create index "oauthRefreshToken_sessionId_idx" on "auth"."oauthRefreshToken" ("sessionId");`);
    this.addSql(`create index "oauthRefreshToken_userId_idx" on "auth"."oauthRefreshToken" ("userId");`);
    this.addSql(
      `create index "oauthRefreshToken_authorizationCodeId_idx" on "auth"."oauthRefreshToken" ("authorizationCodeId");`,
    );
    this.addSql(`create index "oauthAccessToken_clientId_idx" on "auth"."oauthAccessToken" ("clientId");`);
    this.addSql(`create index "oauthAccessToken_sessionId_idx" on "auth"."oauthAccessToken" ("sessionId");`);
    this.addSql(`create index "oauthAccessToken_userId_idx" on "auth"."oauthAccessToken" ("userId");`);
    this.addSql(
      `create index "oauthAccessToken_authorizationCodeId_idx" on "auth"."oauthAccessToken" ("authorizationCodeId");`,
    );
    this.addSql(`create index "oauthAccessToken_refreshId_idx" on "auth"."oauthAccessToken" ("refreshId");`);
    this.addSql(`create index "oauthConsent_clientId_idx" on "auth"."oauthConsent" ("clientId");`);
    this.addSql(`create index "oauthConsent_userId_idx" on "auth"."oauthConsent" ("userId");`);
    this.addSql(
      `create unique index "oauthClientResource_clientId_resourceId_uidx" on "auth"."oauthClientResource" ("clientId", "resourceId");`,
    );
    this.addSql(`create unique index "deviceCode_deviceCode_uidx" on "auth"."deviceCode" ("deviceCode");`);
    this.addSql(`create unique index "deviceCode_userCode_uidx" on "auth"."deviceCode" ("userCode");`);
  }
}
