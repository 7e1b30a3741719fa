import type { Explanation } from "./explanation.ts";

export const DOMAIN_PROCEDURES: Record<string, Explanation[]> = {
  "domain/procedures/call-procedure.ts": [
    { original: "names.length === 0", replacement: "false", reason: "The text of an error." },
  ],
  "domain/procedures/list-procedures.ts": [
    { original: '" "', reason: "Not caught: without spaces, two versions are equal only by a rare chance." },
    { original: '"none"', reason: "Equivalent: any text that is not three numbers is another version." },
  ],
  "domain/procedures/index-missing-procedures.ts": [
    { original: "{ report(error); }", reason: "Not caught: only the database could fail." },
    { original: "report(error);", reason: "Not caught: only the database could fail." },
    { original: '""', reason: "Never evaluated: the query has the condition only with a value." },
    {
      original: "signal.aborted",
      replacement: "false",
      reason: "Equivalent but later: the loop around it checks the signal, too.",
    },
    { original: "-1", replacement: "+1", reason: "Equivalent but slower: some apps are looked at twice." },
    { original: "after === null", reason: "Not caught: it would need more than 100 apps of an earlier version." },
    { original: "after !== null", reason: "Not caught: it differs only if the database fails for an app." },
    {
      original: "{ appId }",
      reason: "Not caught: words of procedures that no search returns stay in the index.",
    },
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
    {
      original: "/^(string|number)$/",
      reason: "Equivalent: no other result of `typeof` contains one of these words.",
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
  "domain/procedures/indexed-procedures.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Never evaluated: every text has a key." },
    {
      original: 'typeof schema !== "object"',
      reason: "Equivalent but slower: the characters of a text are visited, and none is a property.",
    },
  ],
};
