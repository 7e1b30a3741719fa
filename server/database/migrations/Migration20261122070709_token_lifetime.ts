import { Migration } from "@mikro-orm/migrations";

export class Migration20261122070709_token_lifetime extends Migration {
  override name = "Migration20261122070709_token_lifetime";

  override up(): void {
    this.addSql(`alter table "machine_tokens" add "lifetime_seconds" bigint null;`);
    this.addSql(
      `update "machine_tokens" set "lifetime_seconds" = ceil(extract(epoch from "expires_at" - "created_at"))
      where "expires_at" is not null;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "machine_tokens" drop column "lifetime_seconds";`);
  }
}
