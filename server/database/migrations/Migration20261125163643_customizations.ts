import { Migration } from "@mikro-orm/migrations";

export class Migration20261125163643_customizations extends Migration {
  override name = "Migration20261125163643_customizations";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "customizations" ("deployment_id" uuid not null, "app_id" uuid not null, "instructions" jsonb not null, "changes" text not null, "summary" text null, "steps" int not null, "input_tokens" int not null, "output_tokens" int not null, "duration_ms" int not null, "created_at" timestamptz(3) not null, primary key ("deployment_id"));`,
    );
    this.addSql(`create index "customizations_app_id_index" on "customizations" ("app_id");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "customizations" cascade;`);
  }
}
