import { Migration } from "@mikro-orm/migrations";

export class Migration20261123063038_search_vectors extends Migration {
  override name = "Migration20261123063038_search_vectors";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "search_vectors" ("scope_id" int not null, "index_id" int not null, "category" smallint not null, "signs" varbit not null, "vector" bytea not null, primary key ("scope_id", "index_id"));`,
    );

    // Vectors cannot be compressed.
    this.addSql(`alter table "search_vectors" alter column "vector" set storage external;`);

    this.addSql(
      `alter table "search_scopes" add "embedding_model" text null, add "embedded_index_id" int not null default 0;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "search_vectors" cascade;`);

    this.addSql(`alter table "search_scopes" drop column "embedding_model", drop column "embedded_index_id";`);
  }
}
