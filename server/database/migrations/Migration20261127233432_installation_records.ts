import { Migration } from "@mikro-orm/migrations";

export class Migration20261127233432_installation_records extends Migration {
  override name = "Migration20261127233432_installation_records";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "installation_records" ("key" serial primary key, "id" uuid not null, "epoch" int not null, "database" text not null);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "installation_records" cascade;`);
  }
}
