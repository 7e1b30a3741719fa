import { Migration } from "@mikro-orm/migrations";

export class Migration20261127114427_knowledge_source_host extends Migration {
  override name = "Migration20261127114427_knowledge_source_host";

  override up(): void | Promise<void> {
    this.addSql(`alter table "knowledge_sources" add "git_host" text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "knowledge_sources" drop column "git_host";`);
  }
}
