import { Migration } from "@mikro-orm/migrations";

export class Migration20261120230206_foundation extends Migration {
  override name = "Migration20261120230206_foundation";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "apps" ("id" uuid not null, "org_id" uuid not null, "created_by" uuid null, "name" varchar(255) not null, "slug" varchar(255) not null, "repo" varchar(255) not null, "branch" varchar(255) not null, "status" varchar(255) not null, "status_message" text null, "error" text null, "manifest" jsonb null, "fence" int not null default 0, "token_version" int not null default 1, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "apps" add constraint "apps_slug_unique" unique ("slug");`);
    this.addSql(`create index "apps_org_id_created_at_index" on "apps" ("org_id", "created_at");`);

    this.addSql(
      `create table "builds" ("id" uuid not null, "app_id" uuid not null, "repo" varchar(255) not null, "branch" varchar(255) not null, "customization" text null, "commit" varchar(255) null, "attempts" int not null default 0, "held_at" timestamptz(3) null, "outcome" varchar(255) null, "created_at" timestamptz(3) not null, "finished_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "builds_app_id_created_at_index" on "builds" ("app_id", "created_at");`);

    this.addSql(
      `create table "idempotency_keys" ("org_id" uuid not null, "key" varchar(255) not null, "fingerprint" varchar(255) not null, "app_id" uuid not null, "created_at" timestamptz(3) not null, primary key ("org_id", "key"));`,
    );
    this.addSql(`create index "idempotency_keys_created_at_index" on "idempotency_keys" ("created_at");`);

    this.addSql(
      `create table "machine_tokens" ("id" uuid not null, "kind" varchar(255) not null, "token_sha256" varchar(255) not null, "prefix" varchar(255) not null, "name" varchar(255) not null, "org_id" uuid not null, "user_id" uuid null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, "last_used_at" timestamptz(3) null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "machine_tokens" add constraint "machine_tokens_token_sha256_unique" unique ("token_sha256");`,
    );
    this.addSql(`create index "machine_tokens_org_id_index" on "machine_tokens" ("org_id");`);

    this.addSql(
      `create table "organizations" ("id" uuid not null, "name" varchar(255) not null, "plan" varchar(255) not null, "owner_id" uuid not null, "owner_email" varchar(255) not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "rate_limit_windows" ("key" varchar(255) not null, "taken" timestamptz[] not null, "allowed" boolean not null, "expires_at" timestamptz(3) not null, primary key ("key"));`,
    );
    this.addSql(`create index "rate_limit_windows_expires_at_index" on "rate_limit_windows" ("expires_at");`);

    this.addSql(
      `alter table "apps" add constraint "apps_status_check" check (status in ('queued', 'cloning', 'customizing', 'building', 'provisioning', 'ready', 'failed', 'canceled', 'deleting'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "apps" cascade;`);
    this.addSql(`drop table if exists "builds" cascade;`);
    this.addSql(`drop table if exists "idempotency_keys" cascade;`);
    this.addSql(`drop table if exists "machine_tokens" cascade;`);
    this.addSql(`drop table if exists "organizations" cascade;`);
    this.addSql(`drop table if exists "rate_limit_windows" cascade;`);
  }
}
