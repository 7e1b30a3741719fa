import type pg from "pg";

/** Creates the empty table `baseline_entries`: the columns and keys of `session_entries`, without the index of the search. */
export async function createBaselineEntries(database: pg.Client): Promise<void> {
  await database.query(
    `drop table if exists baseline_entries;
     create table baseline_entries (like session_entries);
     alter table baseline_entries add primary key (session_id, seq), add unique (session_id, entry_id)`,
  );
}
