import { Migration } from "@mikro-orm/migrations";

export class Migration20261126234255_deployment_steps extends Migration {
  override name = "Migration20261126234255_deployment_steps";

  override up(): void | Promise<void> {
    this.addSql(`alter table "deployments" add "steps" jsonb null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "deployments" drop column "steps";`);
  }
}
