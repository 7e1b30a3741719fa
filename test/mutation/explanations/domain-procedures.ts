import type { Explanation } from "./explanation.ts";

const BOUND = "Not caught: the bound limits the time of a search, and hardly affects what it finds.";
const YIELD = "Not caught: it decides how often other work of the process runs while an index is built.";
const INDEXED = "Equivalent: every result of the index is one of its procedures.";
const EMPTY_WORD = "Equivalent: the search library drops empty words.";

export const DOMAIN_PROCEDURES: Record<string, Explanation[]> = {
  "domain/procedures/call-procedure.ts": [
    { original: "names.length === 0", replacement: "false", reason: "The text of an error." },
  ],
  "domain/procedures/list-procedures.ts": [
    { original: '" "', reason: "Not caught: without spaces, two versions are equal only by a rare chance." },
    { original: '"none"', reason: "Equivalent: any text that is not three numbers is another version." },
  ],
  "domain/procedures/replace-procedures.ts": [
    {
      original: "at < rows.length",
      replacement: "at <= rows.length",
      reason: "Equivalent: inserting no rows does nothing.",
    },
  ],
  "domain/procedures/app-error-message.ts": [
    {
      original: "start === -1",
      replacement: "false",
      reason: "Equivalent: the last character alone is neither a list of issues nor a message.",
    },
  ],
  "domain/procedures/call-snippet.ts": [
    { original: "example.length > MAX_EXAMPLE", reason: "Differs for examples of exactly 800 characters." },
  ],
  "domain/procedures/describe-arguments.ts": [
    { original: "[]", reason: "Equivalent: no argument has the name that the mutant adds." },
  ],
  "domain/procedures/direct-tool-names.ts": [
    { original: "candidatesByName.get(plainName)?.length", reason: "Equivalent: every name is in the map." },
    { original: "a < b", reason: "Equivalent: no two names are equal." },
  ],
  "domain/procedures/procedure-search-index.ts": [
    { original: "[]", reason: INDEXED },
    { original: "this.#procedures[id as number]?.slug", reason: INDEXED },
    { original: "procedure === undefined", reason: INDEXED },
    {
      original:
        "counted .toSorted((a, b) => a.count - b.count) .filter(({ count }) => { const isRarest = sum === 0; sum += count; return isRarest || sum <= MAX_OCCURRENCES; })",
      reason: BOUND,
    },
    { original: "sum === 0", reason: BOUND },
    { original: "sum += count", reason: BOUND },
    { original: "isRarest || sum <= MAX_OCCURRENCES", reason: BOUND },
    { original: "sum <= MAX_OCCURRENCES", reason: BOUND },
    { original: "this.#frequencies.add(new Set(words));", reason: BOUND },
    { original: "id % BATCH_SIZE === BATCH_SIZE - 1", reason: YIELD },
    { original: "id % BATCH_SIZE", reason: YIELD },
    { original: "BATCH_SIZE - 1", reason: YIELD },
    {
      original:
        'text .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2") .toLowerCase() .split(/[^\\p{L}\\p{N}]+/u) .filter((word) => word !== "")',
      reason: EMPTY_WORD,
    },
    { original: "/[^\\p{L}\\p{N}]+/u", reason: EMPTY_WORD },
    { original: 'word !== ""', reason: EMPTY_WORD },
    { original: '""', reason: EMPTY_WORD },
    {
      original: 'typeof schema !== "object"',
      reason: "Equivalent but slower: the characters of a text are visited, and none is a property.",
    },
  ],
  "domain/procedures/word-frequencies.ts": [
    { original: '""', reason: "Never evaluated: the index is within the list." },
    { original: "a < b", reason: "Equivalent: no two words are equal." },
  ],
};
