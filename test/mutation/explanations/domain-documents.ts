import type { Explanation } from "./explanation.ts";

const REMOVED_MEANWHILE = "Not caught: a passage would have to be removed between two statements of one search.";
const SHARED_SEGMENTER = "Not measured: a test process creates the segmenter once, before most mutants are active.";

export const DOMAIN_DOCUMENTS: Record<string, Explanation[]> = {
  "domain/documents/find-sections.ts": [
    { original: '""', reason: "Equivalent: the expression of a heading always finds a title." },
    {
      original: "marker?.startsWith(fence)",
      replacement: "marker?.endsWith(fence)",
      reason: "Equivalent: a fence is one character, repeated.",
    },
    {
      original: "start < text.length",
      replacement: "start <= text.length",
      reason: "Equivalent: the additional line is empty, and no heading.",
    },
    {
      original: "/^ {0,3}(#{1,6})[ \\t]+(\\S.*)$/",
      replacement: "/^ {0,3}(#{1,6})[ \\t]+(\\S.*)/",
      reason: "Not caught: differs only for a heading with a Unicode line separator.",
    },
    {
      original: "match[1]?.length",
      replacement: "match[1].length",
      reason: "Equivalent: the expression of a heading always finds its level.",
    },
    {
      original: "/[*_`]{1,3}(?=\\S)|(?<=\\S)[*_`]{1,3}/g",
      reason: "Equivalent: the characters of an emphasis are removed one by one.",
    },
  ],
  "domain/documents/find-sentences.ts": [
    {
      original: 'segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" })',
      reason: SHARED_SEGMENTER,
    },
    { original: '"en"', reason: SHARED_SEGMENTER },
    { original: '{ granularity: "sentence" }', reason: SHARED_SEGMENTER },
    { original: '"sentence"', reason: SHARED_SEGMENTER },
  ],
  "domain/documents/read-content.ts": [
    { original: '""', reason: "Equivalent: a split text has at least one part." },
    { original: "/[_-]+/g", reason: "Equivalent: several spaces become one in a title." },
  ],
  "domain/documents/read-documents.ts": [
    { original: '""', reason: "Equivalent: the condition is used only with a cursor." },
    { original: "after?.title", reason: "Equivalent: the condition is used only with a cursor." },
    { original: "after?.id", reason: "Equivalent: the condition is used only with a cursor." },
    {
      original: "last !== undefined",
      replacement: "true",
      reason: "Equivalent: if more rows than the limit are found, the page has a document.",
    },
    {
      original: "start + part.length >= text.length",
      reason: "Equivalent: a stored text ends with a line break, so its last part is not shortened.",
    },
    { original: "start + part.length", reason: "Equivalent: the last part ends with a line break." },
    {
      original: "lineEnd > part.length * 0.75",
      reason: "Not caught: differs for one position of a line break, at which both ends are good.",
    },
  ],
  "domain/documents/search-passages.ts": [
    {
      original: "true",
      replacement: "false",
      reason: "Not caught here: test/mcp/search-queries.test.ts finds a passage with a mistyped word.",
    },
    { original: "passage === undefined", replacement: "false", reason: REMOVED_MEANWHILE },
    { original: "[]", reason: REMOVED_MEANWHILE },
    {
      original: 'found[0]?.language ?? "english"',
      replacement: 'found[0]?.language && "english"',
      reason: "Not caught: differs only in how close the forms of words in texts of other languages are.",
    },
    { original: '"english"', replacement: '""', reason: "Equivalent: without passages, nothing is ranked." },
    {
      original: "byMeaning.length === 0",
      replacement: "false",
      reason: "Equivalent but slower: more passages are ranked than are returned.",
    },
    {
      original: "byMeaning.length === 0",
      reason: "Not caught: differs in the rank of a passage that is found by meaning, and far down by its words.",
    },
    {
      original: "found.length === 0",
      replacement: "false",
      reason: "Equivalent but slower: the query is analyzed, although there is nothing to rank.",
    },
    {
      original: "[...new Set(rows.map(({ language }) => language))]",
      replacement: "[]",
      reason: "Equivalent: the search by words loads the analyzers of all languages of the owner.",
    },
    {
      original: "`${row.title}\\n${row.heading}`",
      replacement: "``",
      reason: "Not caught: differs in the rank of passages whose titles have several words of the query.",
    },
  ],
  "domain/documents/split-passages.ts": [
    {
      original: "from + MAX_LENGTH - 1",
      replacement: "from + MAX_LENGTH + 1",
      reason:
        "Not caught: differs for a word of 1,500 characters that has both single characters and pairs at its cut.",
    },
    { original: "length <= MAX_LENGTH", reason: "Equivalent but slower: a short section is divided and joined again." },
    { original: "from < end", replacement: "from <= end", reason: "Equivalent: the additional line or part is empty." },
    { original: "from < end", replacement: "true", reason: "Equivalent: the rest of a sentence is never empty." },
    {
      original: "found > end",
      replacement: "found >= end",
      reason: "Equivalent: the line ends at the same place.",
    },
    {
      original: "space > 0",
      replacement: "space >= 0",
      reason: "Not caught: differs for several spaces at the end of a passage, before a word of 1,500 characters.",
    },
  ],
  "domain/documents/write-document.ts": [
    { original: "fileName === null", replacement: "false", reason: "Equivalent but slower: no file has this name." },
    {
      original: "`documents ${owner.orgId}`",
      replacement: "``",
      reason: "Equivalent but slower: changes of other organizations wait too.",
    },
    {
      original: "title !== before.title",
      replacement: "true",
      reason: "Equivalent: a stored title was checked before.",
    },
  ],
};
