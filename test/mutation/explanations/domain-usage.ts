import type { Explanation } from "./explanation.ts";

const ORDER = "Not caught: the order matters only for two processes that write the same counts at the same moment.";

export const DOMAIN_USAGE: Record<string, Explanation[]> = {
  "domain/plans/plans.ts": [
    { original: "plan != null", replacement: "true", reason: "Equivalent: no plan has the name `null`." },
  ],
  "domain/usage/usage-counter.ts": [
    { original: '""', reason: "Never evaluated: every key has two parts." },
    { original: "(a, b) => (a.subject_id < b.subject_id ? -1 : 1)", reason: ORDER },
    { original: "a.subject_id < b.subject_id", reason: ORDER },
    { original: "-1", reason: ORDER },
  ],
};
