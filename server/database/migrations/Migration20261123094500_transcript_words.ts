import { Migration } from "@mikro-orm/migrations";

const DROP_INDEX = `drop index "session_entries_words_index";`;
const createIndex = (pendingKb: number): string =>
  `create index "session_entries_words_index" on "session_entries" using gin (session_entry_words("server_id", "session_id", "seq", "content")) with (gin_pending_list_limit = ${pendingKb});`;
const replaceFunction = (text: string): string =>
  `create or replace function "session_entry_words"("server_id" uuid, "session_id" uuid, "seq" int, "content" text) returns tsvector immutable parallel safe language sql as $$ select to_tsvector('simple'::regconfig, ${text}) || array_to_tsvector(array['server ' || "server_id"::text, "session_id"::text || ' ' || ("seq" >> 8)::text]) $$;`;

/**
 * The parser takes names of files and hosts, paths and signed numbers as one word each, and leaves tags and entities out.
 * Without these characters it finds their words.
 */
const SEPARATED = ["-", ".", "/", "<", "+", "&", "~"].reduce(
  (text, character) => `replace(${text}, '${character}', ' ')`,
  `left("content", 2048)`,
);

export class Migration20261123094500_transcript_words extends Migration {
  override name = "Migration20261123094500_transcript_words";

  override up(): void | Promise<void> {
    this.addSql(DROP_INDEX);
    this.addSql(replaceFunction(SEPARATED));
    this.addSql(createIndex(8192));
  }

  override down(): void | Promise<void> {
    this.addSql(DROP_INDEX);
    this.addSql(replaceFunction(`left("content", 2048)`));
    this.addSql(createIndex(1024));
  }
}
