import { acceptsNoInput, type Invocation, type JsonSchema } from "../ports/procedure-discovery.ts";
import { jsonSchemaToType, type TypeBounds, type TypeNames } from "./json-schema-to-type.ts";

/** The schemas of a procedure or a tool. */
export interface CallSchemas {
  inputSchema: JsonSchema;
  /** `null` when the output is not described. */
  outputSchema: JsonSchema | null;
  /** Absent for a tool. */
  invocation?: Invocation;
}

export interface CallSignature {
  input: string;
  /** Whether a call may omit the input. */
  isInputOptional: boolean;
  output: string;
}

/** Converts the schemas of a call to TypeScript types. */
export function createCallSignature(
  { inputSchema, outputSchema, invocation }: CallSchemas,
  bounds: { input: TypeBounds; output: TypeBounds },
  names: TypeNames | null,
): CallSignature {
  const input = jsonSchemaToType(inputSchema, bounds.input, names);
  const output = outputSchema === null ? "unknown" : jsonSchemaToType(outputSchema, bounds.output, names);
  return {
    // Without a schema, the input is an object, as nearly all inputs are.
    input: input === "unknown" ? "{ [key: string]: unknown }" : input,
    isInputOptional: acceptsNoInput(invocation) || mayBeEmptyObject(inputSchema),
    output,
  };
}

/** Keywords that can require a property indirectly. */
const COMPOSITIONS = ["$ref", "allOf", "anyOf", "oneOf"] as const;

/** An app receives an empty object for a call without input. */
function mayBeEmptyObject(schema: JsonSchema): boolean {
  if (![undefined, "object"].includes(schema["type"] as string | undefined) || hasLiterals(schema)) return false;
  if (COMPOSITIONS.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  return !Array.isArray(schema["required"]) || schema["required"].length === 0;
}

function hasLiterals(schema: JsonSchema): boolean {
  return Object.hasOwn(schema, "const") || Array.isArray(schema["enum"]);
}
