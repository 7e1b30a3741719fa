import { Migration } from "@mikro-orm/migrations";

export class Migration20261123064454_procedure_search extends Migration {
  override name = "Migration20261123064454_procedure_search";

  override up(): void | Promise<void> {
    this.addSql(`drop index "app_procedures_org_id_index";`);
    this.addSql(`alter table "app_procedures" add "index_id" int null;`);
    this.addSql(
      `create index "app_procedures_not_indexed" on "app_procedures" ("deployment_id") where "index_id" is null;`,
    );
    this.addSql(
      `alter table "app_procedures" add constraint "app_procedures_org_id_index_id_unique" unique ("org_id", "index_id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "app_procedures_not_indexed";`);
    this.addSql(`alter table "app_procedures" drop constraint "app_procedures_org_id_index_id_unique";`);
    this.addSql(`alter table "app_procedures" drop column "index_id";`);
    this.addSql(`create index "app_procedures_org_id_index" on "app_procedures" ("org_id");`);
  }
}
