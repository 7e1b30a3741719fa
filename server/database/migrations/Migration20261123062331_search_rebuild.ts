import { Migration } from "@mikro-orm/migrations";

export class Migration20261123062331_search_rebuild extends Migration {
  override name = "Migration20261123062331_search_rebuild";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "search_scopes" add "postings_set" int not null default 0, add "rebuild" jsonb null, add "retired_at" timestamptz(3) null;`,
    );
    this.addSql(
      `create index "search_scopes_analyzer_version_id_index" on "search_scopes" ("analyzer_version", "id");`,
    );
    this.addSql(`create index "search_scopes_retired_at_index" on "search_scopes" ("retired_at");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "search_scopes_analyzer_version_id_index";`);
    this.addSql(`drop index "search_scopes_retired_at_index";`);
    this.addSql(
      `alter table "search_scopes" drop column "postings_set", drop column "rebuild", drop column "retired_at";`,
    );
  }
}
