import { Migration } from "@mikro-orm/migrations";

export class Migration20261122131500_app_variables extends Migration {
  override name = "Migration20261122131500_app_variables";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "app_variables" ("app_id" uuid not null, "name" varchar(255) not null, "sealed_value" text not null, "size_bytes" int not null, "is_secret" boolean not null, "is_for_build" boolean not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("app_id", "name"));`,
    );

    this.addSql(
      `alter table "apps" add "variables_version" int not null default 0, add "variables_tried_version" int not null default 0, add "variables_problem" text null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "app_variables" cascade;`);

    this.addSql(
      `alter table "apps" drop column "variables_version", drop column "variables_tried_version", drop column "variables_problem";`,
    );
  }
}
