import { Migration } from "@mikro-orm/migrations";

export class Migration20261126113504_direct_tools extends Migration {
  override name = "Migration20261126113504_direct_tools";

  override up(): void | Promise<void> {
    this.addSql(`alter table "organizations" add "direct_tools" varchar(255) not null default 'all';`);
    this.addSql(
      `alter table "organizations" add constraint "organizations_direct_tools_check" check (direct_tools in ('all', 'none'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "organizations" drop constraint "organizations_direct_tools_check";`);
    this.addSql(`alter table "organizations" drop column "direct_tools";`);
  }
}
