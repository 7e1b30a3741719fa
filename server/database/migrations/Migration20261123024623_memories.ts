import { Migration } from "@mikro-orm/migrations";

export class Migration20261123024623_memories extends Migration {
  override name = "Migration20261123024623_memories";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "memories" ("id" uuid not null, "org_id" uuid not null, "agent_id" uuid not null, "kind" varchar(255) not null, "content" text not null, "content_hash" varchar(255) not null, "meaning_hash" varchar(255) not null, "instruction_like" boolean not null, "index_id" int not null, "user_id" uuid null, "credential_kind" varchar(255) not null, "credential_id" varchar(255) not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "memories_agent_id_kind_meaning_hash_index" on "memories" ("agent_id", "kind", "meaning_hash");`,
    );
    this.addSql(`create index "memories_agent_id_created_at_id_index" on "memories" ("agent_id", "created_at", "id");`);
    this.addSql(
      `alter table "memories" add constraint "memories_agent_id_content_hash_unique" unique ("agent_id", "content_hash");`,
    );
    this.addSql(
      `alter table "memories" add constraint "memories_agent_id_index_id_unique" unique ("agent_id", "index_id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "memories" cascade;`);
  }
}
