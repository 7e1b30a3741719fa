import { Migration } from "@mikro-orm/migrations";

export class Migration20261122101500_redeployments extends Migration {
  override name = "Migration20261122101500_redeployments";

  override up(): void {
    this.addSql(
      `alter table "deployments" add "requested_commit" varchar(255) null, add "cancel_requested_at" timestamptz(3) null;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "deployments" drop column "requested_commit", drop column "cancel_requested_at";`);
  }
}
