import { Migration } from "@mikro-orm/migrations";

export class Migration20261127193610_agent_workspaces extends Migration {
  override name = "Migration20261127193610_agent_workspaces";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "agent_workspaces" ("agent_id" uuid not null, "org_id" uuid not null, "archive_key" varchar(255) null, "bytes" bigint not null, "fencing_token" bigint not null, "leased_until" timestamptz null, primary key ("agent_id"));`,
    );
    this.addSql(`create index "agent_workspaces_org_id_index" on "agent_workspaces" ("org_id");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "agent_workspaces" cascade;`);
  }
}
