import type { JsonSchema } from "../ports/procedure-discovery.ts";
import { schemaType, type TypeBounds, type TypeNames } from "./json-schema-to-type.ts";

export interface Callable {
  inputSchema: JsonSchema;
  /** `null` when it is not known what a call answers. */
  outputSchema: JsonSchema | null;
}

export interface CallSignature {
  input: string;
  /** Whether a call without any input may be meant. */
  takesNothing: boolean;
  output: string;
}

/** What a call takes and answers, as types. */
export function callSignature(
  { inputSchema, outputSchema }: Callable,
  bounds: { input: TypeBounds; output: TypeBounds },
  names: TypeNames | null,
): CallSignature {
  const input = schemaType(inputSchema, bounds.input, names);
  const output = outputSchema === null ? "unknown" : schemaType(outputSchema, bounds.output, names);
  // Whatever its schema says, a call has an object as its input.
  return {
    input: input === "unknown" ? "{ [key: string]: unknown }" : input,
    takesNothing: takesNothing(inputSchema),
    output,
  };
}

const CONSTRAINTS = ["$ref", "allOf", "anyOf", "oneOf"] as const;

function takesNothing(schema: JsonSchema): boolean {
  if (CONSTRAINTS.some((name) => Object.hasOwn(schema, name))) return false;
  return !Array.isArray(schema["required"]) || schema["required"].length === 0;
}
