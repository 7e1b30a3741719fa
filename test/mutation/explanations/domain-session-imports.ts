import type { Explanation } from "./explanation.ts";

export const DOMAIN_SESSION_IMPORTS: Record<string, Explanation[]> = {
  "domain/sessions/import/called-tools.ts": [
    { original: "id !== undefined", replacement: "true", reason: "Equivalent: the name of no id is never read." },
    { original: "id === undefined", replacement: "false", reason: "Equivalent: the absent id has no name." },
  ],
  "domain/sessions/import/claude-code/claude-code-reader.ts": [
    {
      original: "first === undefined",
      replacement: "true",
      reason: "Equivalent: the usage of a response with an entry is counted already, so it gets no further entry.",
    },
  ],
  "domain/sessions/import/codex/codex-reader.ts": [
    {
      original: "{ startsAtZero: true }",
      reason: "Equivalent for files of Codex: totals are replaced by the session_meta, which comes before them.",
    },
    {
      original: "true",
      reason: "Equivalent for files of Codex: totals are replaced by the session_meta, which comes before them.",
    },
  ],
  "domain/sessions/import/codex/copied-history.ts": [
    { original: '""', reason: "Equivalent: a copy begins after the id of the session is known." },
    {
      original: 'turnId > (this.#sessionId ?? "")',
      replacement: 'turnId >= (this.#sessionId ?? "")',
      reason: "Equivalent: a turn and a session never have the same UUID.",
    },
  ],
  "domain/sessions/import/codex/response-items.ts": [
    { original: '""', reason: "Equivalent: a split text has at least one part." },
    {
      original: '/"exit_code":(\\d+)/',
      replacement: '/"exit_code":(\\d)/',
      reason: "Equivalent: a number in JSON that begins with 0 is 0.",
    },
  ],
  "domain/sessions/import/entry-builder.ts": [
    { original: "time.getTime() <= Date.now()", reason: "Differs for one millisecond." },
  ],
  "domain/sessions/import/read-lines.ts": [
    {
      original: "this.isEmpty && part.length <= this.#maxBytes",
      replacement: "false",
      reason: "Equivalent but slower: every line is copied.",
    },
    {
      original: "part.length <= this.#maxBytes",
      replacement: "part.length < this.#maxBytes",
      reason: "Equivalent but slower: a line of the largest size is copied.",
    },
    { original: "length <= this.#bytes.length", reason: "Equivalent but slower: the memory is allocated more often." },
    {
      original: "Math.min(Math.max(length, 2 * this.#bytes.length), this.#maxBytes)",
      reason: "Equivalent but larger: the memory for a line can have up to twice the size of the longest line.",
    },
    { original: "2 * this.#bytes.length", reason: "Equivalent but slower: the memory is allocated more often." },
    { original: "64 * 1024", reason: "Equivalent but slower: the memory is allocated more often." },
  ],
  "domain/sessions/import/sanitize-text.ts": [
    { original: '"\\0"', replacement: '""', reason: "Equivalent but slower: every text is searched twice." },
    {
      original: "text.length * 3 <= limit",
      reason: "Equivalent but slower: the bytes of the text are counted.",
    },
    { original: "text.slice(0, limit)", reason: "Equivalent but slower: the text is encoded as a whole." },
  ],
  "domain/sessions/import/skipped-records.ts": [
    { original: "a < b", replacement: "a <= b", reason: "Equivalent: each kind is there once." },
  ],
  "domain/sessions/import/token-counts.ts": [
    { original: 'typeof value === "number"', replacement: "true", reason: "Equivalent: only a number is an integer." },
  ],
  "domain/sessions/import/transcript-parser.ts": [
    {
      original: "[]",
      reason: "Equivalent: the early records are not read any more. The assignment only releases their memory.",
    },
  ],
  "domain/sessions/import/import-limiter.ts": [
    {
      original: "running === 0",
      replacement: "false",
      reason: "Equivalent but larger: an organization without imports keeps its number, 0, in memory.",
    },
  ],
  "domain/sessions/import/import-transcript.ts": [
    {
      original: "checkMayChange(caller, agent);",
      reason: "Not caught here: test/domain/sessions/import-transcript.test.ts imports for another agent.",
    },
    {
      original: "checkIsManaged(agent);",
      reason: "Not caught here: test/domain/sessions/open-session.test.ts imports for an agent in OpenClaw.",
    },
  ],
  "domain/sessions/import/spool-transcript.ts": [
    {
      original: "entries.length === 0",
      replacement: "false",
      reason: "Equivalent but slower: no entries are added and written.",
    },
  ],
  "domain/sessions/import/store-transcript.ts": [
    {
      original: "`import ${agentId} ${externalId}`",
      replacement: "``",
      reason: "Equivalent but slower: imports of other transcripts wait too.",
    },
    {
      original: "title !== stored.title",
      replacement: "true",
      reason: "Equivalent but slower: the same title is stored again.",
    },
    { original: "totals.count > 0", reason: "Equivalent but slower: nothing is added to the counters." },
    {
      original: "count === 0",
      replacement: "false",
      reason: "Equivalent but slower: a session without entries is searched for known ids.",
    },
  ],
};
