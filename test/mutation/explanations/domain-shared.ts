import type { Explanation } from "./explanation.ts";

const ONE_MATCH = "Equivalent: a cursor has both parts or none, and an absent part is no time.";
const FAST_PATH = "Equivalent but slower: the text is parsed as a date instead.";

const ONCE = "Equivalent: a signal aborts once, and the listener is removed after the wait.";

export const DOMAIN_SHARED: Record<string, Explanation[]> = {
  "domain/shared/database-outage.ts": [
    { original: '"DATABASE_NO_CONNECTION"', reason: "Equivalent: the code is written and read with this constant." },
  ],
  "domain/shared/errors.ts": [
    {
      original:
        '"Internal error. Try again. If the error persists, report the X-Request-Id of this response to the operator."',
      reason: "The text of an error.",
    },
  ],
  "domain/shared/iso-timestamp.ts": [
    {
      original: 'typeof value === "string" && value.length === POSTGRES_UTC_LENGTH && value.endsWith("+00")',
      replacement: "false",
      reason: FAST_PATH,
    },
    { original: 'typeof value === "string"', replacement: "true", reason: "Equivalent: a date has no length." },
    { original: 'typeof value === "string"', reason: FAST_PATH },
    { original: '"string"', reason: FAST_PATH },
    { original: 'value.endsWith("+00")', reason: FAST_PATH },
  ],
  "domain/shared/json.ts": [
    { original: "{ return undefined; }", reason: "Equivalent: the function then returns `undefined` too." },
  ],
  "domain/shared/keyset-cursor.ts": [
    { original: "[]", reason: ONE_MATCH },
    { original: "createdAt === undefined || id === undefined", reason: ONE_MATCH },
    { original: "createdAt === undefined", reason: ONE_MATCH },
    { original: "id === undefined", reason: ONE_MATCH },
  ],
  "domain/shared/log-stream.ts": [
    { original: "{ once: true }", reason: ONCE },
    { original: "true", reason: ONCE },
  ],
  "domain/shared/scopes.ts": [
    { original: "scope !== null", reason: "Equivalent: null is not in the list, so its index is the lowest." },
  ],
  "domain/shared/value-cipher.ts": [
    { original: '"utf8"', reason: "Equivalent: it is the default encoding." },
    {
      original: "{ authTagLength: TAG_BYTES }",
      reason: "Equivalent: a shorter value was rejected before, so the tag always has this length.",
    },
  ],
};
