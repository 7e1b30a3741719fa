import type { Explanation } from "./explanation.ts";

export const DOMAIN_SESSIONS: Record<string, Explanation[]> = {
  "domain/sessions/add-session.ts": [
    {
      original: '"agent"',
      replacement: '""',
      reason: "Equivalent but slower: the server is locked too, so requests for its other agents wait.",
    },
  ],
  "domain/sessions/append-entries.ts": [
    {
      original: "session.message_count === 0",
      replacement: "false",
      reason: "Equivalent but slower: a session without entries is searched for known ids.",
    },
  ],
  "domain/sessions/count-entries.ts": [
    { original: "a < b", replacement: "a <= b", reason: "Equivalent: each month is there once." },
  ],
  "domain/sessions/insert-rows.ts": [
    {
      original: "rows.length <= MAX_VALUES_ROWS",
      reason: "Equivalent but slower: both statements insert the same rows.",
    },
    { original: 'type === "text"', replacement: "false", reason: "Equivalent: a text is cast to text." },
    { original: '"text"', replacement: '""', reason: "Equivalent: a text is cast to text." },
  ],
  "domain/sessions/list-sessions.ts": [
    {
      original: "RESPONSE_CHARACTERS - 200",
      replacement: "RESPONSE_CHARACTERS + 200",
      reason: "Not caught: no session of the test ends between the two sizes, which differ by 2 % of a response.",
    },
    {
      original: "listed[sessions.length - 1]?.end",
      replacement: "listed[sessions.length - 1].end",
      reason: "Equivalent: a page that is cut has at least one session.",
    },
  ],
  "domain/sessions/read-server-usage.ts": [
    { original: "ids.length === 0", replacement: "false", reason: "Equivalent: a server has at least its main agent." },
    { original: "[]", reason: "Equivalent: a server has at least its main agent." },
  ],
  "domain/sessions/read-stored-transcript.ts": [
    {
      original: "limit * maxCharacters * 4 <= PAGE_BYTES",
      reason: "Equivalent but slower: the sizes of the entries are read although they fit.",
    },
    {
      original: "newest === undefined",
      replacement: "true",
      reason: "Not caught: an entry would have to be appended between two statements of one page.",
    },
  ],
  "domain/sessions/search-cursor.ts": [
    { original: "[]", reason: "Equivalent: the second element of the array is absent in both." },
  ],
  "domain/sessions/search-transcripts.ts": [
    { original: "{ cause, }", reason: "Equivalent for callers: the cause is for the log." },
  ],
  "domain/sessions/session-rules.ts": [
    {
      original: "time.getTime() <= Date.now() + SESSION_LIMITS.clockSkewMs",
      reason: "Differs for one millisecond.",
    },
    {
      original: "content.length * 3 <= contentBytes",
      reason: "Equivalent but slower: the bytes of the content are counted.",
    },
  ],
  "domain/sessions/stored-sessions.ts": [
    {
      original: "items.at(-1)?.cursor",
      replacement: "items.at(-1).cursor",
      reason: "Equivalent: if more rows than the limit are found, the page has an item.",
    },
    {
      original: "!(error instanceof ServiceError)",
      replacement: "false",
      reason: "Equivalent: a cursor is rejected with no other error.",
    },
    { original: "{ cause: error }", reason: "Equivalent for callers: the cause is for the log." },
  ],
};
