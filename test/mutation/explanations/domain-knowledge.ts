import type { Explanation } from "./explanation.ts";

export const DOMAIN_KNOWLEDGE: Record<string, Explanation[]> = {
  "domain/knowledge/extract-answer.ts": [
    {
      original: "score >= least",
      replacement: "score > least",
      reason: "Differs only for a sentence with exactly 70 % of the best score.",
    },
  ],
  "domain/knowledge/quote-by-meaning.ts": [
    { original: "b?.[index]", reason: "Equivalent: the endpoint returns a vector for each text." },
  ],
  "domain/knowledge/write-answer.ts": [
    {
      original: String.raw`"\n"`,
      reason: "Not caught: differs only if the end of a passage and the title of another one are digits of one number.",
    },
  ],
};
