import type { Explanation } from "./explanation.ts";

export const DOMAIN_STORAGE: Record<string, Explanation[]> = {
  "domain/storage/measure-storage.ts": [
    { original: '{ fields: ["orgId"] }', reason: "Equivalent but slower: all columns are read." },
    {
      original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }",
      reason: "Not caught: the lock matters only for a teardown at the same moment.",
    },
  ],
};
