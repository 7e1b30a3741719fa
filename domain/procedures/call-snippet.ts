import { createCallSignature } from "../type-declarations/call-signature.ts";
import { createExample } from "../type-declarations/example-value.ts";
import type { TypeBounds } from "../type-declarations/json-schema-to-type.ts";
import { formatPropertyAccess, formatValue, quote } from "../type-declarations/typescript-syntax.ts";
import type { LiveProcedure } from "./list-procedures.ts";

/** Smaller than the bounds of declarations, because a response contains several snippets. */
const INPUT_BOUNDS: TypeBounds = { characters: 800, depth: 6, properties: 12, comments: false };
const OUTPUT_BOUNDS: TypeBounds = { ...INPUT_BOUNDS, characters: 500 };
/** In characters. A longer input has to be written by the caller. */
const MAX_EXAMPLE = 800;

/**
 * Writes a typed call of a procedure with an example input, which runs as it is in a program. A comment above shows the type
 * of the input.
 */
export function createCallSnippet(procedure: LiveProcedure): string {
  const bounds = { input: INPUT_BOUNDS, output: OUTPUT_BOUNDS };
  const { input, isInputOptional, output } = createCallSignature(procedure, bounds, null);
  const path = procedure.name.split(".").map(formatPropertyAccess).join("");
  const hasProperties = Object.keys(procedure.inputSchema["properties"] ?? {}).length > 0;
  const hasInput = hasProperties || !isInputOptional;
  const call = `await service.apps[${quote(procedure.slug)}]${path}(${hasInput ? formatExample(procedure) : ""})`;
  const signature = hasInput ? `// input${isInputOptional ? "?" : ""}: ${input}\n` : "";
  return `${signature}${output === "unknown" ? call : `const result: ${output} = ${call}`}`;
}

function formatExample({ inputSchema }: LiveProcedure): string {
  const example = formatValue(createExample(inputSchema));
  return example.length > MAX_EXAMPLE ? "{}" : example;
}
