import type { JsonSchema } from "../ports/procedure-discovery.ts";
import { jsonSchemaToType, type TypeBounds, type TypeNames } from "./json-schema-to-type.ts";

/** The schemas of a procedure or a tool. */
export interface CallSchemas {
  inputSchema: JsonSchema;
  /** `null` when the output is not described. */
  outputSchema: JsonSchema | null;
}

export interface CallSignature {
  input: string;
  /** Whether a call may omit the input. */
  isInputOptional: boolean;
  output: string;
}

/** Converts the schemas of a call to TypeScript types. */
export function createCallSignature(
  { inputSchema, outputSchema }: CallSchemas,
  bounds: { input: TypeBounds; output: TypeBounds },
  names: TypeNames | null,
): CallSignature {
  const input = jsonSchemaToType(inputSchema, bounds.input, names);
  const output = outputSchema === null ? "unknown" : jsonSchemaToType(outputSchema, bounds.output, names);
  return {
    // The input of a call is an object, whatever its schema says.
    input: input === "unknown" ? "{ [key: string]: unknown }" : input,
    isInputOptional: isInputOptional(inputSchema),
    output,
  };
}

/** Keywords that can require a property indirectly. */
const COMPOSITIONS = ["$ref", "allOf", "anyOf", "oneOf"] as const;

function isInputOptional(schema: JsonSchema): boolean {
  if (COMPOSITIONS.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  return !Array.isArray(schema["required"]) || schema["required"].length === 0;
}
