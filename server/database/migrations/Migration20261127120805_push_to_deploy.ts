import { Migration } from "@mikro-orm/migrations";

export class Migration20261127120805_push_to_deploy extends Migration {
  override name = "Migration20261127120805_push_to_deploy";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "push_deliveries" ("id" uuid not null, "app_id" uuid not null, "org_id" uuid not null, "source" varchar(255) not null, "external_id" text not null, "body_hash" varchar(255) null, "event" text not null, "ref" text null, "commit_before" varchar(255) null, "commit" varchar(255) null, "message" text null, "result" varchar(255) not null, "reason" text null, "deployment_id" uuid null, "status_problem" text null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "push_deliveries_app_id_created_at_index" on "push_deliveries" ("app_id", "created_at");`,
    );
    this.addSql(`create index "push_deliveries_deployment_id_index" on "push_deliveries" ("deployment_id");`);
    this.addSql(`create index "push_deliveries_created_at_index" on "push_deliveries" ("created_at");`);
    this.addSql(
      `alter table "push_deliveries" add constraint "push_deliveries_app_id_source_external_id_unique" unique ("app_id", "source", "external_id");`,
    );
    this.addSql(
      `alter table "push_deliveries" add constraint "push_deliveries_app_id_body_hash_unique" unique ("app_id", "body_hash");`,
    );

    this.addSql(
      `create table "push_endpoints" ("id" uuid not null, "app_id" uuid not null, "org_id" uuid not null, "is_enabled" boolean not null, "sealed_secret" text not null, "branch" text null, "paths" jsonb not null, "reports_statuses" boolean not null, "polls" boolean not null, "polled_commit" varchar(255) null, "next_poll_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "push_endpoints" add constraint "push_endpoints_app_id_unique" unique ("app_id");`);
    this.addSql(`create index "push_endpoints_next_poll_at_index" on "push_endpoints" ("next_poll_at");`);

    this.addSql(
      `alter table "push_deliveries" add constraint "push_deliveries_source_check" check (source in ('github', 'gitlab', 'gitea', 'bitbucket', 'poll'));`,
    );
    this.addSql(
      `alter table "push_deliveries" add constraint "push_deliveries_result_check" check (result in ('queued', 'deployed', 'skipped', 'refused'));`,
    );
    this.addSql(
      `create function "notify_push"() returns trigger language plpgsql as $$ begin perform "notify_organization"(new."org_id", 'push', json_build_object('app_id', new."app_id", 'delivery_id', new."id", 'result', new."result")); return null; end $$;`,
    );
    this.addSql(
      `create trigger "notify_push" after insert or update of "result", "reason", "status_problem" on "push_deliveries" for each row execute function "notify_push"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "notify_push" on "push_deliveries";`);
    this.addSql(`drop function if exists "notify_push"();`);
    this.addSql(`drop table if exists "push_deliveries" cascade;`);
    this.addSql(`drop table if exists "push_endpoints" cascade;`);
  }
}
