import { Migration } from "@mikro-orm/migrations";

export class Migration20261126162328_runtime extends Migration {
  override name = "Migration20261126162328_runtime";

  override up(): void | Promise<void> {
    this.addSql(`alter table "apps" add "requested_runtime" varchar(255) null, add "runtime" varchar(255) null;`);
    this.addSql(
      `alter table "apps" add constraint "apps_requested_runtime_check" check (requested_runtime in ('worker', 'node'));`,
    );
    this.addSql(`alter table "apps" add constraint "apps_runtime_check" check (runtime in ('worker', 'node'));`);
    // Everything that was built before is a Worker.
    this.addSql(`update "apps" set "runtime" = 'worker' where "live_deployment_id" is not null;`);

    this.addSql(
      `alter table "deployments" add "requested_runtime" varchar(255) null, add "runtime" varchar(255) null;`,
    );
    this.addSql(
      `alter table "deployments" add constraint "deployments_requested_runtime_check" check (requested_runtime in ('worker', 'node'));`,
    );
    this.addSql(
      `alter table "deployments" add constraint "deployments_runtime_check" check (runtime in ('worker', 'node'));`,
    );
    this.addSql(`update "deployments" set "runtime" = 'worker' where "artifact_key" is not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "apps" drop constraint "apps_requested_runtime_check";`);
    this.addSql(`alter table "apps" drop constraint "apps_runtime_check";`);
    this.addSql(`alter table "apps" drop column "requested_runtime", drop column "runtime";`);

    this.addSql(`alter table "deployments" drop constraint "deployments_requested_runtime_check";`);
    this.addSql(`alter table "deployments" drop constraint "deployments_runtime_check";`);
    this.addSql(`alter table "deployments" drop column "requested_runtime", drop column "runtime";`);
  }
}
