import { Migration } from "@mikro-orm/migrations";

export class Migration20261127081814_knowledge_sources extends Migration {
  override name = "Migration20261127081814_knowledge_sources";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "knowledge_sources" ("id" uuid not null, "org_id" uuid not null, "kind" varchar(255) not null, "language" varchar(255) not null, "url" text null, "repo" text null, "branch" text null, "path" text not null, "status" varchar(255) not null, "run" int not null default 0, "commit" varchar(255) null, "etag" text null, "last_modified" text null, "error" text null, "skipped" jsonb not null, "skipped_count" int not null default 0, "left_out" int not null default 0, "last_checked_at" timestamptz(3) null, "next_check_at" timestamptz(3) not null, "created_by" uuid null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "knowledge_sources_org_id_created_at_index" on "knowledge_sources" ("org_id", "created_at");`,
    );
    this.addSql(`create index "knowledge_sources_next_check_at_index" on "knowledge_sources" ("next_check_at");`);

    this.addSql(`alter table "documents" add "source_id" uuid null, add "source_hash" varchar(255) null;`);
    this.addSql(`create index "documents_source_id_index" on "documents" ("source_id");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "knowledge_sources" cascade;`);

    this.addSql(`drop index "documents_source_id_index";`);
    this.addSql(`alter table "documents" drop column "source_id", drop column "source_hash";`);
  }
}
