import type { Explanation } from "./explanation.ts";

export const DOMAIN_RETENTION: Record<string, Explanation[]> = {
  "domain/retention/purge-expired-records.ts": [
    {
      original: "deleted < BATCH_SIZE",
      replacement: "false",
      reason: "Equivalent but slower: the further batches of the rule are empty.",
    },
  ],
};
