import { Migration } from "@mikro-orm/migrations";

export class Migration20261122101740_default_branch extends Migration {
  override name = "Migration20261122101740_default_branch";

  override up(): void | Promise<void> {
    this.addSql(`alter table "deployments" add "branch_is_default" boolean not null default false;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "deployments" drop column "branch_is_default";`);
  }
}
