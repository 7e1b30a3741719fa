import { Migration } from "@mikro-orm/migrations";

export class Migration20261122193934_sessions extends Migration {
  override name = "Migration20261122193934_sessions";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "deleted_sessions" ("id" uuid not null, "deleted_at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "sessions" ("id" uuid not null, "org_id" uuid not null, "server_id" uuid not null, "agent_id" uuid not null, "external_id" varchar(255) not null, "title" varchar(255) null, "message_count" int not null default 0, "input_tokens" bigint not null default '0', "output_tokens" bigint not null default '0', "cache_read_tokens" bigint not null default '0', "cache_write_tokens" bigint not null default '0', "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "closed_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create index "sessions_server_id_updated_at_id_index" on "sessions" ("server_id", "updated_at", "id");`,
    );
    this.addSql(`create index "sessions_agent_id_updated_at_id_index" on "sessions" ("agent_id", "updated_at", "id");`);
    this.addSql(
      `alter table "sessions" add constraint "sessions_agent_id_external_id_unique" unique ("agent_id", "external_id");`,
    );

    this.addSql(
      `create table "session_entries" ("session_id" uuid not null, "seq" int not null, "entry_id" varchar(255) not null, "role" varchar(255) not null, "content" text not null, "tool_name" varchar(255) null, "tool_call_id" varchar(255) null, "tool_is_error" boolean null, "model" varchar(255) null, "input_tokens" bigint null, "output_tokens" bigint null, "cache_read_tokens" bigint null, "cache_write_tokens" bigint null, "created_at" timestamptz(3) not null, primary key ("session_id", "seq"));`,
    );
    this.addSql(
      `alter table "session_entries" add constraint "session_entries_session_id_entry_id_unique" unique ("session_id", "entry_id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "deleted_sessions" cascade;`);
    this.addSql(`drop table if exists "sessions" cascade;`);
    this.addSql(`drop table if exists "session_entries" cascade;`);
  }
}
