import { Migration } from "@mikro-orm/migrations";

export class Migration20261127001346_audit_target extends Migration {
  override name = "Migration20261127001346_audit_target";

  override up(): void | Promise<void> {
    this.addSql(
      `create index "audit_events_org_target_page_index" on "audit_events" ("org_id", "target", "created_at" nulls FIRST, "id");`,
    );
    this.addSql(
      `create index "audit_events_user_target_page_index" on "audit_events" ("user_id", "target", "created_at" nulls FIRST, "id") where "org_id" is null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "audit_events_org_target_page_index";`);
    this.addSql(`drop index "audit_events_user_target_page_index";`);
  }
}
