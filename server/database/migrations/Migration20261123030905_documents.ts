import { Migration } from "@mikro-orm/migrations";

export class Migration20261123030905_documents extends Migration {
  override name = "Migration20261123030905_documents";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "documents" ("id" uuid not null, "org_id" uuid not null, "project_id" uuid null, "kind" varchar(255) null, "title" text not null, "language" varchar(255) not null, "file_name" text null, "version" int not null, "stored_bytes" int not null, "created_by" uuid null, "updated_by" uuid null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "documents_org_id_project_id_title_id_index" on "documents" ("org_id", "project_id", "title", "id");`,
    );
    this.addSql(
      `create index "documents_org_id_project_id_file_name_index" on "documents" ("org_id", "project_id", "file_name");`,
    );

    this.addSql(
      `create table "document_passages" ("document_id" uuid not null, "ordinal" int not null, "org_id" uuid not null, "owner_id" uuid not null, "heading" text not null, "content" text not null, "start_offset" int not null, "end_offset" int not null, "index_id" int not null, primary key ("document_id", "ordinal"));`,
    );
    this.addSql(
      `alter table "document_passages" add constraint "document_passages_owner_id_index_id_unique" unique ("owner_id", "index_id");`,
    );

    this.addSql(
      `create table "document_versions" ("document_id" uuid not null, "number" int not null, "content" text not null, "content_hash" varchar(255) not null, "content_bytes" int not null, "restored" int null, "file_name" text null, "media_type" varchar(255) not null, "size_bytes" int not null, "created_by" uuid null, "created_at" timestamptz(3) not null, primary key ("document_id", "number"));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "documents" cascade;`);
    this.addSql(`drop table if exists "document_passages" cascade;`);
    this.addSql(`drop table if exists "document_versions" cascade;`);
  }
}
