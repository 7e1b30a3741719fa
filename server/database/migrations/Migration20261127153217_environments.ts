import { Migration } from "@mikro-orm/migrations";

export class Migration20261127153217_environments extends Migration {
  override name = "Migration20261127153217_environments";

  override up(): void | Promise<void> {
    this.addSql(`alter table "apps" add "parent_id" uuid null, add "environment" varchar(255) null;`);
    this.addSql(
      `alter table "apps" add constraint "apps_parent_id_environment_unique" unique ("parent_id", "environment");`,
    );
    this.addSql(
      `alter table "apps" add constraint "apps_environment_check" check ((parent_id is null) = (environment is null));`,
    );

    this.addSql(`alter table "deployments" drop constraint "deployments_trigger_check";`);
    this.addSql(`alter table "deployments" add "promoted_from_id" uuid null, add "promoted_from" varchar(255) null;`);
    this.addSql(
      `alter table "deployments" add constraint "deployments_trigger_check" check ("trigger" in ('deploy', 'redeploy', 'rollback', 'push', 'promotion'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "apps" drop constraint "apps_parent_id_environment_unique";`);
    this.addSql(`alter table "apps" drop constraint "apps_environment_check";`);
    this.addSql(`alter table "apps" drop column "parent_id", drop column "environment";`);

    this.addSql(`alter table "deployments" drop constraint "deployments_trigger_check";`);
    this.addSql(`alter table "deployments" drop column "promoted_from_id", drop column "promoted_from";`);
    this.addSql(
      `alter table "deployments" add constraint "deployments_trigger_check" check ("trigger" in ('deploy', 'redeploy', 'rollback', 'push'));`,
    );
  }
}
