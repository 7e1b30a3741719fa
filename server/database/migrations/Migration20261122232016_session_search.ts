import { Migration } from "@mikro-orm/migrations";

export class Migration20261122232016_session_search extends Migration {
  override name = "Migration20261122232016_session_search";

  override up(): void | Promise<void> {
    this.addSql(`alter table "session_entries" add "server_id" uuid null;`);
    this.addSql(
      `update "session_entries" set "server_id" = "sessions"."server_id" from "sessions" where "sessions"."id" = "session_entries"."session_id";`,
    );
    // The rest belongs to deleted sessions, and would be removed by the next sweep.
    this.addSql(`delete from "session_entries" where "server_id" is null;`);
    this.addSql(`alter table "session_entries" alter column "server_id" set not null;`);

    // The words of an entry, a key of its server, and a key of the part of its session: 256 seqs. A word of a text contains no
    // space, so no word is equal to a key.
    this.addSql(
      `create function "session_entry_words"("server_id" uuid, "session_id" uuid, "seq" int, "content" text) returns tsvector immutable parallel safe language sql as $$ select to_tsvector('simple'::regconfig, left("content", 2048)) || array_to_tsvector(array['server ' || "server_id"::text, "session_id"::text || ' ' || ("seq" >> 8)::text]) $$;`,
    );
    this.addSql(
      `create index "session_entries_words_index" on "session_entries" using gin (session_entry_words("server_id", "session_id", "seq", "content")) with (gin_pending_list_limit = 1024);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "session_entries_words_index";`);
    this.addSql(`drop function "session_entry_words"(uuid, uuid, int, text);`);
    this.addSql(`alter table "session_entries" drop column "server_id";`);
  }
}
