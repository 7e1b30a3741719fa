import { Migration } from "@mikro-orm/migrations";

export class Migration20261122164052_usage_retention extends Migration {
  override name = "Migration20261122164052_usage_retention";

  override up(): void | Promise<void> {
    this.addSql(`create index "usage_counts_period_index" on "usage_counts" ("period");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "usage_counts_period_index";`);
  }
}
