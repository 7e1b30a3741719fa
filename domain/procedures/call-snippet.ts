import { callSignature } from "../type-declarations/call-signature.ts";
import type { LiveProcedure } from "./list-procedures.ts";
import type { TypeBounds } from "../type-declarations/json-schema-to-type.ts";
import { member, quoted } from "../type-declarations/typescript-syntax.ts";

/** A snippet is one of several in an answer. */
const SHOWN: TypeBounds = { characters: 800, depth: 6, properties: 12, comments: false };
const BOUNDS = { input: SHOWN, output: { ...SHOWN, characters: 500 } };

/** A typed call of a procedure, to paste into code: a value goes in the place of the type that it takes. */
export function callSnippet(procedure: LiveProcedure): string {
  const { input, takesNothing, output } = callSignature(procedure, BOUNDS, null);
  const names = procedure.name.split(".").map(member).join("");
  const hasProperties = Object.keys(procedure.inputSchema["properties"] ?? {}).length > 0;
  const call = `await service.apps[${quoted(procedure.slug)}]${names}(${takesNothing && !hasProperties ? "" : input})`;
  return output === "unknown" ? call : `const result: ${output} = ${call}`;
}
