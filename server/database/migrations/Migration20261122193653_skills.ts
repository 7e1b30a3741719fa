import { Migration } from "@mikro-orm/migrations";

export class Migration20261122193653_skills extends Migration {
  override name = "Migration20261122193653_skills";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "enabled_skills" ("agent_id" uuid not null, "skill_id" uuid not null, primary key ("agent_id", "skill_id"));`,
    );
    this.addSql(`create index "enabled_skills_skill_id_index" on "enabled_skills" ("skill_id");`);

    this.addSql(
      `create table "skills" ("id" uuid not null, "org_id" uuid not null, "name" varchar(255) not null, "description" text not null, "license" text null, "compatibility" text null, "allowed_tools" text null, "metadata" jsonb not null, "requirements" jsonb not null, "repository" jsonb null, "content_hash" varchar(255) not null, "file_count" int not null, "size_bytes" int not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "skills" add constraint "skills_org_id_name_unique" unique ("org_id", "name");`);

    this.addSql(
      `create table "skill_files" ("skill_id" uuid not null, "path" varchar(255) not null, "content" bytea not null, primary key ("skill_id", "path"));`,
    );

    this.addSql(`alter table "agents" add "runtime" jsonb null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "enabled_skills" cascade;`);
    this.addSql(`drop table if exists "skills" cascade;`);
    this.addSql(`drop table if exists "skill_files" cascade;`);

    this.addSql(`alter table "agents" drop column "runtime";`);
  }
}
