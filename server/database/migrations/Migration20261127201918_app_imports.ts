import { Migration } from "@mikro-orm/migrations";

export class Migration20261127201918_app_imports extends Migration {
  override name = "Migration20261127201918_app_imports";

  override up(): void | Promise<void> {
    this.addSql(`alter table "apps" add "import_key" varchar(255) null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "apps" drop column "import_key";`);
  }
}
