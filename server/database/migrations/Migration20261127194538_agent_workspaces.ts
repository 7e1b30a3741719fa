import { Migration } from "@mikro-orm/migrations";

export class Migration20261127194538_agent_workspaces extends Migration {
  override name = "Migration20261127194538_agent_workspaces";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "agent_workspaces" ("org_id" uuid not null, "agent_id" uuid not null, "archive_key" varchar(255) null, "bytes" bigint not null, "fencing_token" bigint not null, "leased_until" timestamptz null, primary key ("org_id", "agent_id"));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "agent_workspaces" cascade;`);
  }
}
