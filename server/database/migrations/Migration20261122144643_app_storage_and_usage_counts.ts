import { Migration } from "@mikro-orm/migrations";

export class Migration20261122144643_app_storage_and_usage_counts extends Migration {
  override name = "Migration20261122144643_app_storage_and_usage_counts";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "app_storage" ("app_id" uuid not null, "sql_bytes" bigint not null, "key_value_bytes" bigint not null, "object_bytes" bigint not null, "durable_bytes" bigint not null, "total_bytes" bigint not null, "measured_at" timestamptz(3) not null, primary key ("app_id"));`,
    );

    this.addSql(
      `create table "usage_counts" ("org_id" uuid not null, "period" varchar(255) not null, "metric" varchar(255) not null, "subject_id" uuid not null, "count" bigint not null, primary key ("org_id", "period", "metric", "subject_id"));`,
    );

    this.addSql(`alter table "apps" add "storage_problem" text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "app_storage" cascade;`);
    this.addSql(`drop table if exists "usage_counts" cascade;`);

    this.addSql(`alter table "apps" drop column "storage_problem";`);
  }
}
