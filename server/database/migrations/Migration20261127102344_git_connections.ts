import { Migration } from "@mikro-orm/migrations";

export class Migration20261127102344_git_connections extends Migration {
  override name = "Migration20261127102344_git_connections";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "git_connections" ("id" uuid not null, "org_id" uuid not null, "kind" varchar(255) not null, "url" text not null, "host" text not null, "repositories" text null, "username" text not null, "sealed_token" text not null, "created_by" uuid null, "checked_at" timestamptz(3) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "git_connections_org_id_created_at_id_index" on "git_connections" ("org_id", "created_at", "id");`,
    );

    this.addSql(`alter table "apps" add "git_host" text null;`);

    this.addSql(`alter table "deployments" add "git_host" text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "git_connections" cascade;`);

    this.addSql(`alter table "apps" drop column "git_host";`);

    this.addSql(`alter table "deployments" drop column "git_host";`);
  }
}
