import { Migration } from "@mikro-orm/migrations";

export class Migration20261127115359_github_apps extends Migration {
  override name = "Migration20261127115359_github_apps";

  override up(): void | Promise<void> {
    this.addSql(`alter table "git_connections" add "app_id" text null, add "installation_id" bigint null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "git_connections" drop column "app_id", drop column "installation_id";`);
  }
}
