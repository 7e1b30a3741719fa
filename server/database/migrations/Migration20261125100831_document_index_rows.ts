import { Migration } from "@mikro-orm/migrations";

export class Migration20261125100831_document_index_rows extends Migration {
  override name = "Migration20261125100831_document_index_rows";

  override up(): void | Promise<void> {
    this.addSql(`alter table "documents" add "index_rows" int not null default 0;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "documents" drop column "index_rows";`);
  }
}
