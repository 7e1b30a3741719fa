import type { Explanation } from "./explanation.ts";

const LOCK = "Not caught: the lock matters only for a worker at the same moment.";
const PAUSE = "Equivalent: only the time between two checks differs.";

export const DOMAIN_DEPLOYMENTS: Record<string, Explanation[]> = {
  "domain/deployments/add-deployment.ts": [
    {
      original: "row === undefined",
      replacement: "false",
      reason: "Not caught: the app would have to be deleted between two statements.",
    },
    {
      original: "idempotencyKey === null",
      replacement: "false",
      reason: "Equivalent but slower: no stored key is null.",
    },
    { original: "newest?.number", reason: "Equivalent: every app has a first deployment." },
  ],
  "domain/deployments/cancel-deployment.ts": [
    { original: "Math.min(pauseMs * 2, 250)", reason: PAUSE },
    { original: "pauseMs * 2", reason: PAUSE },
    {
      original: "Date.now() > deadline",
      replacement: "Date.now() >= deadline",
      reason: "Differs for one millisecond.",
    },
    { original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }", reason: LOCK },
  ],
  "domain/deployments/list-deployments.ts": [
    { original: "rows.length === 0", replacement: "true", reason: "Equivalent but slower: the app is read too." },
    {
      original: "last !== undefined",
      reason: "Equivalent: a page with another one after it has at least one deployment.",
    },
  ],
  "domain/deployments/deployment-log.ts": [
    {
      original: "this.#timer !== null",
      replacement: "true",
      reason: "Equivalent: an open log always has a timer, and `clearInterval(null)` does nothing.",
    },
    { original: "cut === 0", reason: "Equivalent but slower: an empty text is appended, and the log written again." },
    {
      original: "this.#tail.length <= HALF",
      reason: "Equivalent: at exactly this length, nothing is dropped either way.",
    },
  ],
};
