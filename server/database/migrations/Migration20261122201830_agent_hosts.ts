import { Migration } from "@mikro-orm/migrations";

export class Migration20261122201830_agent_hosts extends Migration {
  override name = "Migration20261122201830_agent_hosts";

  override up(): void | Promise<void> {
    this.addSql(`alter table "agents" add "external_id" varchar(255) null;`);
    this.addSql(
      `alter table "agents" add constraint "agents_server_id_external_id_unique" unique ("server_id", "external_id");`,
    );

    this.addSql(
      `alter table "agent_servers" add "kind" varchar(255) not null default 'managed', add "url" text null, add "sealed_token" text null, add "connection_version" int not null default 1, add "status" varchar(255) not null default 'ready', add "status_since" timestamptz(3) not null default now(), add "status_message" text null;`,
    );
    this.addSql(`create index "agent_servers_remote_index" on "agent_servers" ("id") where "kind" != 'managed';`);

    // The servers that exist are managed ones, which have always been ready.
    this.addSql(`update "agent_servers" set "status_since" = "created_at";`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "agent_servers_remote_index";`);
    this.addSql(
      `alter table "agent_servers" drop column "kind", drop column "url", drop column "sealed_token", drop column "connection_version", drop column "status", drop column "status_since", drop column "status_message";`,
    );

    this.addSql(`alter table "agents" drop constraint "agents_server_id_external_id_unique";`);
    this.addSql(`alter table "agents" drop column "external_id";`);
  }
}
