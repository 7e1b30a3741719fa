import { Migration } from "@mikro-orm/migrations";

export class Migration20261122141024_audit_variable_names extends Migration {
  override name = "Migration20261122141024_audit_variable_names";

  override up(): void | Promise<void> {
    this.addSql(`alter table "audit_events" add "variable_name" varchar(255) null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "audit_events" drop column "variable_name";`);
  }
}
