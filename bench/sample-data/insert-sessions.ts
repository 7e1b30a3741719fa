import { randomUUID } from "node:crypto";
import type { Em } from "../../server/database/orm.ts";

export interface SampleSessions {
  /** The number of sessions with 10 entries each. */
  sessions: number;
  /** The number of entries of one more session, which was updated first. */
  entriesOfLongest: number;
}

/**
 * Inserts sessions of the main agent of an organization's first server. Each entry has 40 of 5,000 words, and `common`. One
 * has `unique`.
 *
 * @returns the id of the longest session
 */
export async function insertSessions(
  em: Em,
  orgId: string,
  { sessions, entriesOfLongest }: SampleSessions,
): Promise<string> {
  const longest = randomUUID();
  const insert = `insert into sessions (id, org_id, server_id, agent_id, external_id, title, message_count, created_at, updated_at)
    select coalesce(?::uuid, gen_random_uuid()), org_id, server_id, id, ? || n, 'Session ' || n, ?, now(), now() - ?::interval - n * interval '1 second'
    from agents cross join generate_series(1, ?) n where org_id = ? and is_main`;
  await em.execute(insert, [null, "run-", 10, "0", sessions, orgId]);
  await em.execute(insert, [longest, "longest-", entriesOfLongest, "1 year", 1, orgId]);
  await em.execute(
    `insert into session_entries (session_id, seq, server_id, entry_id, role, content, created_at)
     select session.id, n, server_id, 'e' || n, 'assistant',
       array_to_string(array(select 'word' || (hashint4(n * 50 + k) & 65535) % 5000 from generate_series(1, 40) k), ' ')
         || ' common' || case when n = 77777 then ' unique' else '' end, now()
     from sessions session cross join lateral generate_series(1, message_count) n where org_id = ?`,
    [orgId],
  );
  // As autovacuum does after a while. It also moves the pending words into the index of the search.
  await em.execute("vacuum analyze sessions, session_entries");
  return longest;
}
