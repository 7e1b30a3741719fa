import type { Explanation } from "./explanation.ts";

const PART_OF_WORD = "Equivalent: no other word of a statement has these letters.";
const DELETED = "Not caught: the memory would have to be deleted between two statements.";
const ASSIGNED = "Never evaluated: the index assigns an id to each text.";
const MILLISECOND = "Differs only for memories that were stored in the same millisecond.";

export const DOMAIN_MEMORY: Record<string, Explanation[]> = {
  "domain/memory/compare-text.ts": [
    { original: "/\\s+/u", replacement: "/\\s/u", reason: "Equivalent: empty words are removed." },
    { original: "/[ae]ies$/", replacement: "/[ae]ies/", reason: PART_OF_WORD },
    { original: "/^cannot$|^can't$/", reason: PART_OF_WORD },
    { original: "/^won't$/", reason: PART_OF_WORD },
    { original: "/n't$/", replacement: "/n't/", reason: PART_OF_WORD },
    { original: '" are"', reason: "Equivalent: `are` is a word without meaning." },
  ],
  "domain/memory/instruction-like.ts": [
    {
      original: "/[^\\S\\n\\r\\u2028\\u2029]+/g",
      replacement: "/[^\\S\\n\\r\\u2028\\u2029]/g",
      reason:
        "Equivalent: the forms that depend on lines allow several spaces, and all others match the other text too.",
    },
  ],
  "domain/memory/list-memories.ts": [
    {
      original: "last === undefined",
      replacement: "false",
      reason: "Equivalent: a page with another one after it has at least one memory.",
    },
  ],
  "domain/memory/memory-scope.ts": [
    {
      original: "agent === undefined",
      replacement: "false",
      reason: "Not caught: the agent would have to be deleted between two statements.",
    },
    {
      original: "`memories ${ownerId}`",
      reason: "Equivalent but slower: changes of the memories of all agents wait for each other.",
    },
  ],
  "domain/memory/recall-memories.ts": [
    { original: "[]", replacement: '["Stryker was here"]', reason: DELETED },
    { original: "row === undefined", replacement: "false", reason: DELETED },
    { original: "latest(a) < latest(b)", replacement: "latest(a) <= latest(b)", reason: MILLISECOND },
  ],
  "domain/memory/stored-memories.ts": [
    { original: "indexId === undefined", replacement: "false", reason: ASSIGNED },
    { original: 'throw new Error("the search index has assigned no id");', reason: ASSIGNED },
  ],
};
