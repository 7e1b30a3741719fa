import type { Explanation } from "./explanation.ts";

export const DOMAIN_DEPLOYMENTS: Record<string, Explanation[]> = {
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
