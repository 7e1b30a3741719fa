import type { Explanation } from "./explanation.ts";

const NEVER_EVALUATED = "Never evaluated: a divided text has at least one part.";
const LONGER_TEXT = "Equivalent: the text is longer than what fits, so the loop ends before.";
const ONE_CHARACTER = "Not caught: one or two characters more or less are shown.";

export const DOMAIN_EXECUTION: Record<string, Explanation[]> = {
  "domain/execution/call-declarations.ts": [
    { original: '""', reason: NEVER_EVALUATED },
    {
      original: "maxBytes - usedBytes - types.bytes",
      reason: "Not caught: it only shifts the share of one type. The bound on all of them is checked afterwards.",
    },
    {
      original: "usedBytes + types.bytes > maxBytes",
      replacement: "usedBytes + types.bytes >= maxBytes",
      reason: "Differs for calls that fit exactly.",
    },
    {
      original: "own !== undefined",
      replacement: "true",
      reason: "Equivalent: a group without a call of its own has others.",
    },
    {
      original: "/^.*?\\.(?=\\s|$)/s",
      reason: "Equivalent: the search begins at the start, and a text without a sentence is shown whole.",
    },
  ],
  "domain/execution/execute-code.ts": [
    { original: '""', reason: "Equivalent: a name with one part is no call of an app or a tool." },
    {
      original: "declarations === undefined",
      replacement: "true",
      reason: "Equivalent but slower: the declarations are generated for each program.",
    },
  ],
  "domain/execution/program-declarations.ts": [{ original: '""', reason: NEVER_EVALUATED }],
  "domain/execution/truncate-output.ts": [
    { original: "end < text.length", reason: LONGER_TEXT },
    { original: "start > 0", reason: LONGER_TEXT },
    { original: "(length += getJsonLengthAt(text, end)) <= maxLength", reason: ONE_CHARACTER },
    { original: "(length += getJsonLengthAt(text, start - 1)) <= maxLength", reason: ONE_CHARACTER },
    { original: "start - 1", reason: ONE_CHARACTER },
  ],
};
