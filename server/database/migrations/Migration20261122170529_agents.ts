import { Migration } from "@mikro-orm/migrations";

export class Migration20261122170529_agents extends Migration {
  override name = "Migration20261122170529_agents";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "agents" ("id" uuid not null, "org_id" uuid not null, "server_id" uuid not null, "name" varchar(255) not null, "model" varchar(255) null, "is_main" boolean not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "agents_server_id_created_at_id_index" on "agents" ("server_id", "created_at", "id");`);
    this.addSql(`create unique index "agents_main_agent_unique" on "agents" ("server_id") where "is_main" = true;`);

    this.addSql(
      `create table "agent_servers" ("id" uuid not null, "org_id" uuid not null, "name" varchar(255) not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "agent_servers_org_id_created_at_id_index" on "agent_servers" ("org_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "instruction_revisions" ("agent_id" uuid not null, "number" int not null, "content" text not null, "content_hash" varchar(255) not null, "reverted_to" int null, "user_id" uuid null, "credential_kind" varchar(255) not null, "credential_id" varchar(255) not null, "created_at" timestamptz(3) not null, primary key ("agent_id", "number"));`,
    );

    // Every organization has a server with a main agent from its creation on.
    this.addSql(
      `create function "add_agent_server"("organization_id" uuid) returns void language plpgsql as $$ declare "new_server_id" uuid := gen_random_uuid(); begin insert into "agent_servers" ("id", "org_id", "name", "created_at") values ("new_server_id", "organization_id", 'Default', now()); insert into "agents" ("id", "org_id", "server_id", "name", "model", "is_main", "created_at") values (gen_random_uuid(), "organization_id", "new_server_id", 'Main', null, true, now()); end $$;`,
    );
    this.addSql(
      `create or replace function "add_organization"() returns trigger language plpgsql as $$ begin insert into "organizations" ("id", "plan", "created_at") values (new."id", null, now()); perform "add_agent_server"(new."id"); return null; end $$;`,
    );
    this.addSql(`select "add_agent_server"("id") from "organizations";`);

    // Gateway tokens of earlier versions name agents that nothing else knew. They become specialized agents.
    this.addSql(
      `insert into "agents" ("id", "org_id", "server_id", "name", "model", "is_main", "created_at") select "token"."agent_id", "token"."org_id", "server"."id", min("token"."name"), null, false, min("token"."created_at") from "machine_tokens" as "token" join "agent_servers" as "server" on "server"."org_id" = "token"."org_id" where "token"."kind" = 'gateway_token' and "token"."agent_id" is not null and "token"."revoked_at" is null group by "token"."agent_id", "token"."org_id", "server"."id" on conflict ("id") do nothing;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `create or replace function "add_organization"() returns trigger language plpgsql as $$ begin insert into "organizations" ("id", "plan", "created_at") values (new."id", null, now()); return null; end $$;`,
    );
    this.addSql(`drop function "add_agent_server"(uuid);`);
    this.addSql(`drop table if exists "agents" cascade;`);
    this.addSql(`drop table if exists "agent_servers" cascade;`);
    this.addSql(`drop table if exists "instruction_revisions" cascade;`);
  }
}
