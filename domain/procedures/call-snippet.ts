import { createCallSignature } from "../type-declarations/call-signature.ts";
import type { TypeBounds } from "../type-declarations/json-schema-to-type.ts";
import { formatPropertyAccess, quote } from "../type-declarations/typescript-syntax.ts";
import type { LiveProcedure } from "./list-procedures.ts";

/** Smaller than the bounds of declarations, because a response contains several snippets. */
const INPUT_BOUNDS: TypeBounds = { characters: 800, depth: 6, properties: 12, comments: false };
const OUTPUT_BOUNDS: TypeBounds = { ...INPUT_BOUNDS, characters: 500 };

/** Writes a typed call of a procedure, to paste into a program. The input is its type, to be replaced by a value. */
export function createCallSnippet(procedure: LiveProcedure): string {
  const bounds = { input: INPUT_BOUNDS, output: OUTPUT_BOUNDS };
  const { input, isInputOptional, output } = createCallSignature(procedure, bounds, null);
  const path = procedure.name.split(".").map(formatPropertyAccess).join("");
  const hasProperties = Object.keys(procedure.inputSchema["properties"] ?? {}).length > 0;
  const argument = isInputOptional && !hasProperties ? "" : input;
  const call = `await service.apps[${quote(procedure.slug)}]${path}(${argument})`;
  return output === "unknown" ? call : `const result: ${output} = ${call}`;
}
