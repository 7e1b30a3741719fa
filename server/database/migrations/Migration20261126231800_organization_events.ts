import { Migration } from "@mikro-orm/migrations";

export class Migration20261126231800_organization_events extends Migration {
  override name = "Migration20261126231800_organization_events";

  override up(): void | Promise<void> {
    // Triggers, so that no write of an app or a deployment is left out, and a notification is sent exactly if it commits.
    this.addSql(
      `create function "notify_organization"("org_id" uuid, "type" text, "data" json) returns void language sql as $$ select pg_notify('organization_events', json_build_object('org_id', "org_id", 'type', "type", 'data', "data")::text) $$;`,
    );
    this.addSql(
      `create function "iso_timestamp"("time" timestamptz) returns text stable language sql as $$ select to_char("time" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;`,
    );
    this.addSql(
      `create function "notify_app"() returns trigger language plpgsql as $$ begin if tg_op = 'DELETE' then perform "notify_organization"(old."org_id", 'app', json_build_object('id', old."id", 'status', 'deleted', 'updated_at', "iso_timestamp"(now()))); else perform "notify_organization"(new."org_id", 'app', json_build_object('id', new."id", 'status', new."status", 'updated_at', "iso_timestamp"(new."updated_at"))); end if; return null; end $$;`,
    );
    this.addSql(
      `create trigger "notify_app" after insert or delete or update of "name", "status", "status_message", "error", "storage_problem", "live_deployment_id", "updated_at" on "apps" for each row execute function "notify_app"();`,
    );
    this.addSql(
      `create function "notify_deployment"() returns trigger language plpgsql as $$ begin perform "notify_organization"(new."org_id", 'deployment', json_build_object('app_id', new."app_id", 'number', new."number", 'status', new."status")); return null; end $$;`,
    );
    this.addSql(
      `create trigger "notify_deployment" after insert or update of "status", "status_message" on "deployments" for each row execute function "notify_deployment"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger "notify_deployment" on "deployments";`);
    this.addSql(`drop trigger "notify_app" on "apps";`);
    this.addSql(`drop function "notify_deployment"();`);
    this.addSql(`drop function "notify_app"();`);
    this.addSql(`drop function "iso_timestamp"(timestamptz);`);
    this.addSql(`drop function "notify_organization"(uuid, text, json);`);
  }
}
