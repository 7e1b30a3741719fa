import type { Explanation } from "./explanation.ts";

const INDEX = "Caught by test/rest/memories.test.ts, which is not a test of this area.";

export const DOMAIN_RETENTION: Record<string, Explanation[]> = {
  "domain/retention/purge-expired-records.ts": [
    {
      original: "deleted < BATCH_SIZE",
      replacement: "false",
      reason: "Equivalent but slower: the further batches of the rule are empty.",
    },
  ],
  "domain/retention/deleted-sessions.ts": [
    {
      original: "count === null",
      replacement: "false",
      reason: "Equivalent but slower: the further batches find no session.",
    },
    { original: '"session_id"', reason: "Equivalent: the library uses the names for types only." },
    { original: '"seq"', reason: "Equivalent: the library uses the names for types only." },
  ],
  "domain/retention/removed-memories.ts": [
    {
      original: "agentIds.length === 0",
      replacement: "false",
      reason: "Equivalent but slower: no row matches an empty list.",
    },
    { original: '{ orgId, kind: "memory", ownerId }', reason: INDEX },
    { original: '"memory"', reason: INDEX },
  ],
};
