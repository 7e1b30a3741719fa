import { Migration } from "@mikro-orm/migrations";

export class Migration20261121035141_app_token_overlap extends Migration {
  override name = "Migration20261121035141_app_token_overlap";

  override up(): void | Promise<void> {
    this.addSql(`alter table "apps" add "previous_token_until" timestamptz(3) null;`);
  }
}
