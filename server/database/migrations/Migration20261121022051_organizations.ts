import { Migration } from "@mikro-orm/migrations";

export class Migration20261121022051_organizations extends Migration {
  override name = "Migration20261121022051_organizations";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "audit_events" ("id" uuid not null, "org_id" uuid null, "user_id" uuid null, "credential_kind" varchar(255) null, "credential_id" varchar(255) null, "action" varchar(255) not null, "target" varchar(255) null, "outcome" varchar(255) not null, "address" varchar(255) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "audit_events_org_id_created_at_index" on "audit_events" ("org_id", "created_at");`);
    this.addSql(
      `alter table "machine_tokens" add "agent_id" uuid null, add "scope" varchar(255) not null default 'everything';`,
    );

    // From now on the identity provider stores the members of organizations. The earlier owners could not sign in: they
    // become placeholder owners, which users replace.
    this.addSql(
      `insert into "auth"."user" ("id", "name", "email", "emailVerified", "createdAt", "updatedAt") select "owner_id", 'Owner', case when lower("owner_email") = 'owner@localhost.localdomain' and "id" = (select "id" from "organizations" order by "created_at" limit 1) then 'owner@localhost.localdomain' else "id" || '@placeholder.invalid' end, false, "created_at", "created_at" from "organizations";`,
    );
    this.addSql(
      `insert into "auth"."organization" ("id", "name", "slug", "createdAt") select "id", "name", "id"::text, "created_at" from "organizations";`,
    );
    this.addSql(
      `insert into "auth"."member" ("organizationId", "userId", "role", "createdAt") select "id", "owner_id", 'owner', "created_at" from "organizations";`,
    );
    this.addSql(`alter table "organizations" drop column "name", drop column "owner_id", drop column "owner_email";`);
    this.addSql(`alter table "organizations" alter column "plan" drop not null;`);

    // A trigger inserts the row in `organizations` in the transaction that creates the organization.
    this.addSql(
      `create function "add_organization"() returns trigger language plpgsql as $$ begin insert into "organizations" ("id", "plan", "created_at") values (new."id", null, now()); return null; end $$;`,
    );
    this.addSql(
      `create trigger "add_organization" after insert on "auth"."organization" for each row execute function "add_organization"();`,
    );
    this.addSql(
      `create unique index "member_organizationId_userId_uidx" on "auth"."member" ("organizationId", "userId");`,
    );
    this.addSql(
      `create unique index "account_providerId_accountId_uidx" on "auth"."account" ("providerId", "accountId");`,
    );
  }
}
