import { Migration } from "@mikro-orm/migrations";

export class Migration20261123024944_search extends Migration {
  override name = "Migration20261123024944_search";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "search_postings" ("scope_id" int not null, "term" text collate "C" not null, "block" int not null, "count" int not null, "data" bytea not null, primary key ("scope_id", "term", "block"));`,
    );

    // Compression would take longer than it saves, because postings hardly repeat.
    this.addSql(`alter table "search_postings" alter column "data" set storage external;`);

    this.addSql(
      `create table "search_scopes" ("id" serial primary key, "org_id" uuid not null, "kind" varchar(255) not null, "owner_id" uuid not null, "next_index_id" int not null, "text_count" int not null, "total_length" bigint not null, "languages" int not null, "analyzer_version" int not null);`,
    );
    this.addSql(
      `alter table "search_scopes" add constraint "search_scopes_org_id_kind_owner_id_unique" unique ("org_id", "kind", "owner_id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "search_postings" cascade;`);
    this.addSql(`drop table if exists "search_scopes" cascade;`);
  }
}
