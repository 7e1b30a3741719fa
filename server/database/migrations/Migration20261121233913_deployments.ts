import { Migration } from "@mikro-orm/migrations";

/**
 * Converts each build to a deployment with its own status, message, error, log and procedures. Ids, texts and times are
 * unchanged. Logs are not moved in object storage: the deployment stores their existing key.
 */
export class Migration20261121233913_deployments extends Migration {
  override name = "Migration20261121233913_deployments";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "deployments" ("id" uuid not null, "app_id" uuid not null, "org_id" uuid not null, "number" int not null, "trigger" varchar(255) not null, "repo" varchar(255) not null, "branch" varchar(255) not null, "commit" varchar(255) null, "customization" text null, "created_by" uuid null, "rollback_to_id" uuid null, "status" varchar(255) not null, "status_message" text null, "error" text null, "log_key" varchar(255) not null, "artifact_key" varchar(255) null, "attempts" int not null default 0, "fencing_token" int not null default 0, "lease_renewed_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "started_at" timestamptz(3) null, "finished_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "deployments_status_index" on "deployments" ("status");`);
    this.addSql(
      `alter table "deployments" add constraint "deployments_app_id_number_unique" unique ("app_id", "number");`,
    );
    this.addSql(
      `alter table "deployments" add constraint "deployments_status_check" check (status in ('queued', 'cloning', 'customizing', 'building', 'provisioning', 'ready', 'failed', 'canceled', 'superseded'));`,
    );
    this.addSql(
      `alter table "deployments" add constraint "deployments_trigger_check" check ("trigger" in ('deploy', 'redeploy', 'rollback', 'push'));`,
    );
    this.#copyBuilds();
    this.addSql(`drop table "builds";`);

    this.addSql(`alter table "apps" rename column "fence" to "fencing_token";`);
    this.addSql(`alter table "apps" add "latest_deployment_id" uuid null, add "live_deployment_id" uuid null;`);
    this.addSql(
      `update "apps" set
        "latest_deployment_id" = (select "id" from "deployments" where "app_id" = "apps"."id" order by "number" desc limit 1),
        "live_deployment_id" = (select "id" from "deployments" where "app_id" = "apps"."id" and "status" = 'ready' order by "number" desc limit 1);`,
    );
    this.addSql(`alter table "apps" alter column "latest_deployment_id" set not null;`);

    this.addSql(`alter table "idempotency_keys" add "deployment_id" uuid null;`);

    this.addSql(`alter table "app_procedures" drop constraint "app_procedures_app_id_name_unique";`);
    this.addSql(`alter table "app_procedures" add "deployment_id" uuid null;`);
    this.addSql(
      `update "app_procedures" set "deployment_id" = "apps"."latest_deployment_id" from "apps" where "apps"."id" = "app_procedures"."app_id";`,
    );
    this.addSql(`delete from "app_procedures" where "deployment_id" is null;`);
    this.addSql(`alter table "app_procedures" alter column "deployment_id" set not null;`);
    this.addSql(`create index "app_procedures_app_id_index" on "app_procedures" ("app_id");`);
    this.addSql(
      `alter table "app_procedures" add constraint "app_procedures_deployment_id_name_unique" unique ("deployment_id", "name");`,
    );

    this.#removeOldJobs();
  }

  #copyBuilds(): void {
    // The newest build of an app gets the app's status. No build keeps its lease: builds of an app that is being
    // deleted never continue, and workers of the earlier version cannot continue any, because their table is dropped.
    this.addSql(
      `insert into "deployments" ("id", "app_id", "org_id", "number", "trigger", "repo", "branch", "commit", "customization", "created_by", "status", "status_message", "error", "log_key", "attempts", "fencing_token", "created_at", "finished_at")
      select "build"."id", "app"."id", "app"."org_id", "build"."number", 'deploy', "build"."repo", "build"."branch", "build"."commit", "build"."customization", "app"."created_by",
        case when "outcome" is not null then "outcome" when "is_newest" and "status" <> 'deleting' then "status" else 'canceled' end,
        case when "is_newest" and "status" <> 'deleting' then "status_message" end,
        case when "is_newest" then "error" end,
        "app"."id" || '.log', "attempts", case when "is_newest" then "fence" else 0 end, "build"."created_at",
        case when "outcome" is null and ("status" = 'deleting' or not "is_newest") then coalesce("finished_at", now()) else "finished_at" end
      from (
        select *, row_number() over (partition by "app_id" order by "created_at", "id") as "number",
          row_number() over (partition by "app_id" order by "created_at" desc, "id" desc) = 1 as "is_newest"
        from "builds"
      ) as "build"
      join "apps" as "app" on "app"."id" = "build"."app_id";`,
    );
    // From now on every app has a deployment, even an app without a recorded build.
    this.addSql(
      `insert into "deployments" ("id", "app_id", "org_id", "number", "trigger", "repo", "branch", "created_by", "status", "status_message", "error", "log_key", "created_at", "finished_at")
      select gen_random_uuid(), "id", "org_id", 1, 'deploy', "repo", "branch", "created_by",
        case when "status" = 'deleting' then 'canceled' else "status" end,
        case when "status" <> 'deleting' then "status_message" end,
        "error", "id" || '.log', "created_at",
        case when "status" in ('ready', 'failed', 'canceled', 'deleting') then "updated_at" end
      from "apps" where not exists (select from "deployments" where "app_id" = "apps"."id");`,
    );
  }

  /**
   * The queue of builds has a new name and new data. The first sweep queues unfinished deployments again. At most one
   * sweep can be queued per minute, so a sweep that the earlier version queued is deleted.
   */
  #removeOldJobs(): void {
    this.addSql(
      `do $$ begin
        if to_regprocedure('jobs.delete_queue(text)') is not null then
          perform jobs.delete_queue('build');
          delete from jobs.job where name = 'sweep';
        end if;
      end $$;`,
    );
  }
}
