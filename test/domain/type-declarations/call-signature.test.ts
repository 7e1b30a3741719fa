import { expect, test } from "vitest";
import { type CallSchemas, createCallSignature } from "../../../domain/type-declarations/call-signature.ts";
import type { TypeBounds } from "../../../domain/type-declarations/json-schema-to-type.ts";

const BOUNDS: TypeBounds = { characters: 1000, depth: 9, properties: 9, comments: false };

const signatureOf = (inputSchema: object, outputSchema: object | null = null, output = BOUNDS) =>
  createCallSignature({ inputSchema, outputSchema } as CallSchemas, { input: BOUNDS, output }, null);

test("a call has the types of its input and its output, each within its bounds", () => {
  const schema = { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } };
  expect(signatureOf(schema, schema, { ...BOUNDS, properties: 1 })).toEqual({
    input: "{ a?: string; b?: string }",
    isInputOptional: true,
    output: "{ a?: string; /* 1 more */ [key: string]: unknown }",
  });
});

test("an output that is not described is unknown, and an input that is not described is an object", () => {
  expect(signatureOf({}, null)).toEqual({
    input: "{ [key: string]: unknown }",
    isInputOptional: true,
    output: "unknown",
  });
});

test.each<[boolean, object]>([
  [true, { type: "object" }],
  [true, { type: "object", required: [] }],
  [true, { type: "object", required: "a" }],
  [false, { type: "object", required: ["a"] }],
  [false, { $ref: "#/$defs/a", $defs: { a: {} } }],
  [false, { type: "object", allOf: [{ required: ["a"] }] }],
  [false, { type: "object", anyOf: [{ required: ["a"] }] }],
  [false, { type: "object", oneOf: [{ required: ["a"] }] }],
])("whether a call may omit its input is %s for %j", (isOptional, schema) => {
  expect(signatureOf(schema).isInputOptional).toBe(isOptional);
});
