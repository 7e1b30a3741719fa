import { Migration } from "@mikro-orm/migrations";

export class Migration20261123041323_projects extends Migration {
  override name = "Migration20261123041323_projects";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "projects" ("id" uuid not null, "org_id" uuid not null, "name" varchar(255) not null, "kind" varchar(255) not null, "description" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "projects" add constraint "projects_org_id_name_unique" unique ("org_id", "name");`);

    this.addSql(
      `create table "project_mounts" ("agent_id" uuid not null, "project_id" uuid not null, primary key ("agent_id", "project_id"));`,
    );
    this.addSql(`create index "project_mounts_project_id_index" on "project_mounts" ("project_id");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "projects" cascade;`);
    this.addSql(`drop table if exists "project_mounts" cascade;`);
  }
}
