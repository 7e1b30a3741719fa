import type { Explanation } from "./explanation.ts";

const ERROR_TEXT = "The text of an error.";

export const DOMAIN_VARIABLES: Record<string, Explanation[]> = {
  "domain/variables/variable-cipher.ts": [
    { original: '"utf8"', reason: "Equivalent: it is the default encoding." },
    {
      original: "{ authTagLength: TAG_BYTES }",
      reason: "Equivalent: a shorter value was rejected before, so the tag always has this length.",
    },
  ],
  "domain/variables/variable-rules.ts": [
    { original: "prefix === undefined", reason: ERROR_TEXT },
    { original: '`"${name}" is`', reason: ERROR_TEXT },
    { original: '`names that start with "${prefix}" are`', reason: ERROR_TEXT },
  ],
};
