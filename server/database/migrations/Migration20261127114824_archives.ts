import { Migration } from "@mikro-orm/migrations";

export class Migration20261127114824_archives extends Migration {
  override name = "Migration20261127114824_archives";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "archives" ("org_id" uuid not null, "id" varchar(64) not null, "object_key" varchar(255) not null, "size" int not null, "unpacked_size" int not null, "file_count" int not null, "created_by" uuid null, "created_at" timestamptz(3) not null, "last_used_at" timestamptz(3) not null, primary key ("org_id", "id"));`,
    );
    this.addSql(`create index "archives_last_used_at_index" on "archives" ("last_used_at");`);

    this.addSql(`alter table "apps" add "archive_id" varchar(255) null;`);
    this.addSql(`alter table "apps" alter column "repo" drop not null;`);
    this.addSql(`alter table "apps" alter column "branch" drop not null;`);
    this.addSql(`create index "apps_archive_id_index" on "apps" ("archive_id");`);
    this.addSql(
      `alter table "apps" add constraint "apps_source_check" check ((repo is null) = (archive_id is not null) and (repo is null) = (branch is null));`,
    );

    this.addSql(`alter table "deployments" add "archive_id" varchar(255) null;`);
    this.addSql(`alter table "deployments" alter column "repo" drop not null;`);
    this.addSql(`alter table "deployments" alter column "branch" drop not null;`);
    this.addSql(`create index "deployments_archive_id_index" on "deployments" ("archive_id");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "archives" cascade;`);

    this.addSql(`drop index "apps_archive_id_index";`);
    this.addSql(`alter table "apps" drop constraint "apps_source_check";`);
    this.addSql(`alter table "apps" drop column "archive_id";`);
    this.addSql(`alter table "apps" alter column "repo" set not null;`);
    this.addSql(`alter table "apps" alter column "branch" set not null;`);

    this.addSql(`drop index "deployments_archive_id_index";`);
    this.addSql(`alter table "deployments" drop column "archive_id";`);
    this.addSql(`alter table "deployments" alter column "repo" set not null;`);
    this.addSql(`alter table "deployments" alter column "branch" set not null;`);
  }
}
