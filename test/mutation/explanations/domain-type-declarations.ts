import type { Explanation } from "./explanation.ts";

const NO_TYPE = "Equivalent: the result is `null` because the schema has a type.";
const SLOWER = "Equivalent but slower: all further properties are tried, and none fits.";
const ALWAYS_ESCAPED = "Equivalent but slower: the text is searched for characters to escape.";

export const DOMAIN_TYPE_DECLARATIONS: Record<string, Explanation[]> = {
  "domain/type-declarations/call-signature.ts": [
    {
      original: "outputSchema === null",
      replacement: "false",
      reason: "Equivalent: a schema that is no object has the type `unknown` too.",
    },
  ],
  "domain/type-declarations/example-value.ts": [
    { original: '"text"', reason: "Equivalent: an example that is no object is replaced." },
    {
      original: "values.length > 1",
      replacement: "values.length >= 1",
      reason: "Equivalent: a single object is copied.",
    },
    {
      original: "values.every(isRecord)",
      reason: "Differs only for a schema whose parts exclude each other, which no value matches.",
    },
    { original: "[]", reason: "Equivalent: only objects are parts." },
    { original: 'case "null": return null;', reason: NO_TYPE },
    { original: '"null"', reason: NO_TYPE },
    { original: "default: return undefined;", reason: "Equivalent: the function then returns `undefined` too." },
    { original: 'typeof format === "string"', reason: "Equivalent: only a text is the name of a format." },
    {
      original: 'typeof value === "number" && Number.isFinite(value)',
      reason: "Differs only for numbers that JSON cannot express.",
    },
    { original: 'typeof value === "number"', reason: "Equivalent: only numbers are finite." },
  ],
  "domain/type-declarations/json-schema-to-type.ts": [
    { original: "[]", reason: "Equivalent: a text is not an open schema, and not a type either." },
    { original: "this.#names?.declare", reason: "Equivalent: only with names a schema has one." },
    { original: "this.#remainingCharacters <= 0", reason: SLOWER },
  ],
  "domain/type-declarations/type-expression.ts": [
    { original: '"never"', reason: "Equivalent: when no type is found, the result is `never` as well." },
  ],
  "domain/type-declarations/typescript-syntax.ts": [{ original: "/^[\\x20-\\x7E]*$/", reason: ALWAYS_ESCAPED }],
};
