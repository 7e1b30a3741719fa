import { Migration } from "@mikro-orm/migrations";

export class Migration20261122131137_root_directory extends Migration {
  override name = "Migration20261122131137_root_directory";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "apps" add "root_directory" varchar(255) null, add "build_network" boolean not null default false;`,
    );

    this.addSql(
      `alter table "deployments" add "root_directory" varchar(255) null, add "build_network" boolean not null default false;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "apps" drop column "root_directory", drop column "build_network";`);

    this.addSql(`alter table "deployments" drop column "root_directory", drop column "build_network";`);
  }
}
