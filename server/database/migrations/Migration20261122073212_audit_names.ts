import { Migration } from "@mikro-orm/migrations";

export class Migration20261122073212_audit_names extends Migration {
  override name = "Migration20261122073212_audit_names";

  override up(): void | Promise<void> {
    this.addSql(`drop index "audit_events_org_id_created_at_index";`);
    this.addSql(
      `alter table "audit_events" add "credential_name" varchar(255) null, add "target_kind" varchar(255) null, add "target_name" varchar(255) null;`,
    );
    this.addSql(
      `create index "audit_events_org_page_index" on "audit_events" ("org_id", "created_at" nulls FIRST, "id");`,
    );
    this.addSql(
      `create index "audit_events_org_user_page_index" on "audit_events" ("org_id", "user_id", "created_at" nulls FIRST, "id");`,
    );
    this.addSql(
      `create index "audit_events_org_credential_page_index" on "audit_events" ("org_id", "credential_id", "created_at" nulls FIRST, "id");`,
    );
    this.addSql(
      `create index "audit_events_org_action_page_index" on "audit_events" ("org_id", "action", "created_at" nulls FIRST, "id");`,
    );
    this.addSql(
      `create index "audit_events_user_page_index" on "audit_events" ("user_id", "created_at" nulls FIRST, "id") where "org_id" is null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "audit_events_org_page_index";`);
    this.addSql(`drop index "audit_events_org_user_page_index";`);
    this.addSql(`drop index "audit_events_org_credential_page_index";`);
    this.addSql(`drop index "audit_events_org_action_page_index";`);
    this.addSql(`drop index "audit_events_user_page_index";`);
    this.addSql(
      `alter table "audit_events" drop column "credential_name", drop column "target_kind", drop column "target_name";`,
    );
    this.addSql(`create index "audit_events_org_id_created_at_index" on "audit_events" ("org_id", "created_at");`);
  }
}
