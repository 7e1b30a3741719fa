import { runInNewContext } from "node:vm";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createExample } from "../../../domain/type-declarations/example-value.ts";
import { formatValue } from "../../../domain/type-declarations/typescript-syntax.ts";

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

const object = (properties: object, ...required: string[]) => ({ type: "object", properties, required });
const inProperty = (schema: object) => object({ value: schema }, "value");

test.each<[string, object, unknown]>([
  ["a string", { type: "string" }, "value"],
  ["a long string", { type: "string", minLength: 8 }, "valuexxx"],
  ["a short string", { type: "string", maxLength: 3 }, "val"],
  ["a date", { type: "string", format: "date" }, "2026-12-24"],
  ["an email address", { type: "string", format: "email" }, "ada@example.com"],
  ["an id", { type: "integer" }, 1],
  ["a number from 10", { type: "integer", minimum: 10 }, 10],
  ["a positive number", { type: "number", exclusiveMinimum: 0 }, 1],
  ["a fraction", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
  ["a negative number", { type: "integer", maximum: -3 }, -3],
  ["a number above 10", { type: "number", exclusiveMinimum: 10 }, 11],
  ["a number below -3", { type: "number", exclusiveMaximum: -3 }, -4],
  ["an integer from 1.5", { type: "integer", minimum: 1.5 }, 2],
  ["a multiple of 25", { type: "integer", multipleOf: 25 }, 25],
  ["a multiple of 25 from 50", { type: "integer", minimum: 50, multipleOf: 25 }, 50],
  ["a multiple of 25 beyond 50", { type: "integer", exclusiveMinimum: 50, multipleOf: 25 }, 75],
  ["a multiple of 25 up to -30", { type: "integer", maximum: -30, multipleOf: 25 }, -50],
  ["a multiple of 25 below -50", { type: "integer", exclusiveMaximum: -50, multipleOf: 25 }, -75],
  ["a multiple of 25 above 30", { type: "integer", minimum: 30, multipleOf: 25 }, 50],
  ["a boolean", { type: "boolean" }, true],
  ["null", { type: "null" }, null],
  ["a nullable string", { type: ["null", "string"] }, "value"],
  ["a choice that starts with null", { anyOf: [{ type: "null" }, { type: "integer" }] }, 1],
  ["an enum", { enum: ["lead", "won"] }, "lead"],
  ["a constant", { const: { a: [null] } }, { a: [null] }],
  ["a schema with an example", { type: "string", examples: ["Acme"], enum: ["x", "Acme"] }, "Acme"],
  ["a schema with a default", { type: "integer", default: 50 }, 50],
  ["a schema with an example of OpenAPI 3.0", { type: "string", example: "Acme" }, "Acme"],
  ["a schema with a long default", { type: "string", default: "x".repeat(198) }, "x".repeat(198)],
  ["a schema with a default that is too long", { type: "string", default: "x".repeat(199) }, "value"],
  ["a list", { type: "array", items: { type: "integer" } }, [1]],
  ["a list of two", { type: "array", items: { type: "boolean" }, minItems: 2 }, [true, true]],
  ["a list without a type", { items: { type: "integer" } }, [1]],
  ["an empty list", { type: "array", maxItems: 0 }, []],
  ["a tuple", { prefixItems: [{ type: "string" }, { type: "integer" }] }, ["value", 1]],
  ["an object, of which only the required properties count", object({ a: {}, b: {} }, "b"), { b: "b" }],
  ["an object without a type", { properties: { a: {} } }, {}],
  ["an object without described properties", { required: ["a"] }, { a: "a" }],
  ["an integer with a part without a type", { type: "integer", allOf: [{ minimum: 1 }] }, 1],
  ["a date in parts", { allOf: [{ description: "Due" }, { type: "string", format: "date" }] }, "2026-12-24"],
  ["a choice without types", { anyOf: [{ minLength: 1 }, { maxLength: 9 }] }, "value"],
  ["a choice of null only", { anyOf: [{ type: "null" }] }, null],
  ["parts", { allOf: [object({ a: { const: 1 } }, "a"), object({ b: { const: 2 } }, "b")] }, { a: 1, b: 2 }],
  ["a part that only requires", { ...object({ a: { type: "integer" } }), anyOf: [{ required: ["a"] }] }, { a: 1 }],
])("the example of %s matches its schema", (_description, schema, example) => {
  expect(createExample(inProperty(schema))).toEqual({ value: example });
  expect(ajv.validate(inProperty(schema), { value: example })).toBe(true);
});

test.each(["date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "url", "uuid"])(
  "the example of the format %s has this format",
  (format) => {
    const schema = inProperty({ type: "string", format });
    const example = createExample(schema);
    expect(example).not.toEqual({ value: "value" });
    expect(ajv.validate(schema, example)).toBe(true);
  },
);

test.each<[string, object, unknown]>([
  ["an unknown format", { type: "string", format: "constructor" }, "value"],
  ["a reference that is not a text", { $ref: ["#"], type: "integer" }, 1],
  ["required properties that are not texts", { type: "object", required: [1, "b"] }, { b: "b" }],
  ["required properties that are not a list", { type: "object", required: "b" }, {}],
  ["a number of items that is not a number", { type: "array", items: { type: "integer" }, minItems: "2" }, [1]],
])("a schema with %s has an example", (_description, schema, example) => {
  expect(createExample(inProperty(schema))).toEqual({ value: example });
});

test("the schema around a reference describes properties that the referenced schema requires", () => {
  const schema = { ...object({ a: { type: "integer" } }), $ref: "#/$defs/part", $defs: { part: { required: ["a"] } } };
  expect(createExample(schema)).toEqual({ a: 1 });
});

test("an example has 6 levels below the root and 60 schemas; the rest is null", () => {
  const nest = (levels: number): object => (levels === 0 ? { type: "integer" } : { items: nest(levels - 1) });
  expect(createExample(inProperty(nest(5)))).toEqual({ value: [[[[[1]]]]] });
  expect(createExample(inProperty(nest(6)))).toEqual({ value: [[[[[[null]]]]]] });
  // At the last level, a part is null, and the other keywords still count.
  const last = { items: { items: { items: { items: { items: { type: "integer", allOf: [{ minimum: 1 }] } } } } } };
  expect(createExample(inProperty(last))).toEqual({ value: [[[[[1]]]]] });
  const names = Array.from({ length: 70 }, (_, n) => `p${n}`);
  const values = Object.values(createExample({ type: "object", required: names }) as object);
  expect(values).toEqual(names.map((name, n) => (n < 59 ? name : null)));
});

test("the example of a referenced schema matches it, and a recursive schema ends", () => {
  const schema = {
    ...object({ node: { $ref: "#/$defs/node" } }, "node"),
    $defs: { node: object({ name: { type: "string" }, next: { $ref: "#/$defs/node" } }, "name") },
  };
  expect(createExample(schema)).toEqual({ node: { name: "name" } });
  const endless = object({ next: { $ref: "#" } }, "next");
  expect(formatValue(createExample(endless)).length).toBeLessThan(200);
});

test("an example stays small, and is an object whose properties are its own, whatever the schema says", () => {
  const names = fc.constantFrom("a", "__proto__", "constructor", "x-y", 'q"*/');
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      fc.constantFrom<unknown>({}, null, 7, true, { type: "string" }, { type: "integer" }, { $ref: "#" }),
      fc.record(
        {
          type: fc.constantFrom<unknown>("object", "array", ["null", "string"], "decimal", 3),
          properties: fc.dictionary(names, tie("schema"), { maxKeys: 2 }),
          required: fc.array(fc.oneof(names, fc.constant(1)), { maxLength: 3 }),
          items: tie("schema"),
          prefixItems: fc.array(tie("schema"), { maxLength: 2 }),
          anyOf: fc.array(tie("schema"), { maxLength: 2 }),
          allOf: fc.array(tie("schema"), { maxLength: 2 }),
          minItems: fc.constantFrom<unknown>(0, 2, 1e9, -1, "x"),
          minLength: fc.constantFrom<unknown>(3, 1e9, -1, "x"),
          minimum: fc.constantFrom<unknown>(3, 1e300, "x"),
          enum: fc.array(fc.jsonValue(), { maxLength: 2 }),
          examples: fc.array(fc.jsonValue(), { maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
    ),
  }));
  fc.assert(
    fc.property(schema, (value) => {
      const root = { type: "object", properties: { value }, required: ["value"] };
      const text = formatValue(createExample(root));
      expect(text.length).toBeLessThan(20_000);
      expect(JSON.parse(JSON.stringify(evaluate(text)))).toEqual(JSON.parse(JSON.stringify(createExample(root))));
    }),
    { numRuns: 200 },
  );
});

/** Evaluates an expression that consists of literals. */
function evaluate(expression: string): unknown {
  return runInNewContext(`(${expression})`) as unknown;
}
