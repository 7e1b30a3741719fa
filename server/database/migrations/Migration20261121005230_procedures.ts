import { Migration } from "@mikro-orm/migrations";

export class Migration20261121005230_procedures extends Migration {
  override name = "Migration20261121005230_procedures";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "app_procedures" ("id" uuid not null, "app_id" uuid not null, "org_id" uuid not null, "name" varchar(255) not null, "kind" varchar(255) not null, "description" text not null, "input_schema" json not null, "output_schema" json null, "invocation" json not null, primary key ("id"));`,
    );
    this.addSql(`create index "app_procedures_org_id_index" on "app_procedures" ("org_id");`);
    this.addSql(
      `alter table "app_procedures" add constraint "app_procedures_app_id_name_unique" unique ("app_id", "name");`,
    );

    this.addSql(
      `alter table "app_procedures" add constraint "app_procedures_kind_check" check (kind in ('query', 'mutation'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "app_procedures" cascade;`);
  }
}
