import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import type { JsonSchema } from "../../../domain/ports/procedure-discovery.ts";
import { createDirectTool } from "../../../server/mcp/direct-tool.ts";
import { toPortableInput } from "../../../server/mcp/tool-schema/portable-schema.ts";
import { liveProcedure } from "../../support/procedures/procedure-fixture.ts";
import { listViolations, PROVIDERS } from "../../support/procedures/provider-rules.ts";

const convert = (schema: JsonSchema, isInputOptional = false) => toPortableInput(schema, { isInputOptional });
const ofZod = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input" }) as JsonSchema;

function expectAccepted(inputSchema: JsonSchema): void {
  const { tool } = createDirectTool("shop-k7m2xq_find", liveProcedure("shop-k7m2xq", "find", { inputSchema }));
  for (const provider of PROVIDERS)
    expect([provider, listViolations(tool, provider), inputSchema]).toEqual([provider, [], inputSchema]);
}

test("a union is merged: all properties, of which those that every alternative requires are required", () => {
  const shape = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("circle"), radius: z.number() }),
    z.object({ kind: z.literal("square"), width: z.number(), note: z.string().optional() }),
  ]);
  const { schema, alternatives } = convert(ofZod(shape));
  expect(schema).toEqual({
    type: "object",
    properties: {
      kind: { type: "string", enum: ["circle", "square"] },
      radius: { type: "number" },
      width: { type: "number" },
      note: { type: "string" },
    },
    required: ["kind"],
  });
  expect(alternatives).toMatch(
    /^\{ kind: "circle"; radius: number.*\} \| \{ kind: "square"; width: number; note\?: string.*\}$/,
  );
  expectAccepted(ofZod(shape));
});

test("an intersection requires what each part requires, and both rules of a property hold", () => {
  const both = z.object({ a: z.enum(["x", "y"]) }).and(z.object({ a: z.enum(["y", "z"]), b: z.int() }));
  expect(convert(ofZod(both)).schema).toEqual({
    type: "object",
    properties: { a: { type: "string", enum: ["y"] }, b: { type: "integer" } },
    required: ["a", "b"],
  });
});

test("alternatives that only require properties keep the properties of the object around them", () => {
  const properties = { id: { type: "string" }, email: { type: "string" } };
  const schema = { type: "object", properties, anyOf: [{ required: ["id"] }, { required: ["email"] }] };
  expect(convert(schema).schema).toEqual({ type: "object", properties });
  expectAccepted(schema);
});

test("an input that is not an object becomes the argument `input`, and is unwrapped", () => {
  for (const [input, schema, value] of [
    [z.string(), { type: "string" }, "u1"],
    [z.array(z.number()), { type: "array", items: { type: "number" } }, [1, 2]],
    [z.union([z.string(), z.number()]), { anyOf: [{ type: "string" }, { type: "number" }] }, 7],
  ] as const) {
    const portable = convert(ofZod(input));
    expect(portable.schema).toEqual({ type: "object", properties: { input: schema }, required: ["input"] });
    expect(portable.toInput({ input: value })).toEqual(value);
    expectAccepted(ofZod(input));
  }
  expect(convert(ofZod(z.string()), true).schema).toEqual({
    type: "object",
    properties: { input: { type: "string" } },
  });
  expect(convert(ofZod(z.string()), true).toInput({})).toBeUndefined();
});

test("a call without arguments is one without input when the procedure accepts that, and otherwise an empty object", () => {
  const schema = ofZod(z.object({ text: z.string() }));
  expect(convert(schema, true).toInput({})).toBeUndefined();
  expect(convert(schema, true).toInput({ text: "" })).toEqual({ text: "" });
  expect(convert(schema).toInput({})).toEqual({});
});

test("a validator that says nothing accepts any object", () => {
  expect(convert({}).schema).toEqual({ type: "object", properties: {} });
  expect(convert({}).toInput({ a: 1 })).toEqual({ a: 1 });
});

test("property names get characters that every API accepts, at every level, and are given back in a call", () => {
  const inner = z.object({ "größe (cm)": z.number(), plain: z.string() });
  const schema = ofZod(z.object({ "filter[name]": z.string(), list: z.array(inner), 名前: z.string(), $top: z.int() }));
  const portable = convert(schema);
  const properties = portable.schema["properties"] as Record<string, JsonSchema>;
  const names = Object.keys(properties);
  expect(names).toEqual(["filter_name", "list", expect.stringMatching(/^property_[0-9a-f]{6}$/), "top"]);
  expect(properties["filter_name"]).toEqual({ type: "string", description: '(sent as "filter[name]")' });
  expect(portable.schema["required"]).toEqual(names);
  const args = {
    filter_name: "x",
    list: [{ grosse_cm: 1, gro_e_cm: 1, plain: "p" }],
    [names[2] ?? ""]: "y",
    top: 1,
    more: 2,
  };
  const item = (portable.schema["properties"] as { list: { items: { properties: object } } }).list.items.properties;
  const [first] = Object.keys(item);
  const list = [{ [first ?? ""]: 180, plain: "p" }];
  expect(portable.toInput({ ...args, list })).toEqual({
    "filter[name]": "x",
    list: [{ "größe (cm)": 180, plain: "p" }],
    名前: "y",
    $top: 1,
    more: 2,
  });
  const withOriginalNames = { "filter[name]": "x", list: [{ "größe (cm)": 180 }] };
  expect(portable.toInput(withOriginalNames)).toEqual(withOriginalNames);
  expectAccepted(schema);
});

test("names that would be equal stay distinct", () => {
  const names = ["a b", "a_b", "a-b", "a[b", "x".repeat(64), "x".repeat(65), `${"x".repeat(64)}y`];
  const portable = convert({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  });
  const listed = Object.keys(portable.schema["properties"] as object);
  expect(new Set(listed).size).toBe(names.length);
  const args = Object.fromEntries(listed.map((name, at) => [name, at]));
  expect(portable.toInput(args)).toEqual(Object.fromEntries(names.map((name, at) => [name, at])));
});

test("what has no keyword in every API is said in the description", () => {
  const schema = z.object({
    email: z.email().max(80).describe("Where to write to"),
    count: z.int().min(1).default(3),
    any: z.int(),
    code: z.string().regex(/^(?=a)\d+$/),
    day: z.iso.date(),
    at: z.iso.datetime(),
    level: z.union([z.literal(1), z.literal(2)]),
    scores: z.record(z.string(), z.number()),
    pair: z.tuple([z.string(), z.boolean()]),
  });
  const described = convert(ofZod(schema)).schema["properties"] as Record<string, JsonSchema>;
  expect(described).toEqual({
    email: { type: "string", description: "Where to write to (max length 80; format email)" },
    count: { type: "integer", description: "(min 1; default 3)" },
    any: { type: "integer" },
    code: { type: "string", description: "(pattern ^(?=a)\\d+$)" },
    day: { type: "string", description: "(format date)" },
    at: { type: "string", format: "date-time" },
    level: { type: "integer", description: "(one of 1, 2)" },
    scores: { type: "object", description: "({ [key: string]: number })" },
    pair: {
      type: "array",
      items: { anyOf: [{ type: "string" }, { type: "boolean" }] },
      description: "([string, boolean])",
    },
  });
});

test("a recursive schema ends where it repeats, and a deep one at a bounded level", () => {
  const tree: z.ZodType = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }));
  expect(convert(ofZod(tree)).schema["properties"]).toEqual({
    name: { type: "string" },
    children: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, children: { type: "array", items: { type: "object" } } },
        required: ["name", "children"],
      },
    },
  });
  let deep: JsonSchema = { type: "string" };
  for (let level = 0; level < 60; level++) deep = { type: "object", properties: { a: deep }, required: ["a"] };
  expectAccepted(deep);
});

test("a null for a value that may be null, an enum of many kinds and an empty text are accepted by every API", () => {
  const schema = ofZod(
    z.object({
      owner: z.string().nullable().describe("Who"),
      mixed: z.union([z.literal("a"), z.literal(""), z.literal(3), z.null()]),
      flag: z.literal(true),
      anything: z.unknown(),
      list: z.array(z.unknown()),
    }),
  );
  expectAccepted(schema);
  expect((convert(schema).schema["properties"] as Record<string, JsonSchema>)["owner"]).toEqual({
    anyOf: [{ type: "string", description: "Who" }, { type: "null" }],
  });
});

test("every generated schema becomes one that every API accepts, and names are given back", () => {
  const name = fc.oneof(
    fc.constantFrom(
      "__proto__",
      "constructor",
      "a",
      "a b",
      "a_b",
      "filter[x]",
      "$ref",
      "type",
      "größe",
      "名前",
      "input",
    ),
    fc.string({ maxLength: 80 }),
  );
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 5, depthSize: "small" },
      fc.constantFrom<unknown>(
        {},
        true,
        false,
        null,
        7,
        { type: "string" },
        { type: "integer" },
        { $ref: "#" },
        { $ref: "#/$defs/a" },
      ),
      fc.record(
        {
          type: fc.constantFrom<unknown>("object", "array", "string", "integer", ["null", "string"], "decimal", 3, []),
          properties: fc.dictionary(name, tie("schema"), { maxKeys: 3 }),
          required: fc.array(fc.oneof(name, fc.constant(1)), { maxLength: 3 }),
          additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
          patternProperties: fc.dictionary(name, tie("schema"), { maxKeys: 1 }),
          items: fc.oneof(tie("schema"), fc.array(tie("schema"), { maxLength: 2 })),
          prefixItems: fc.array(tie("schema"), { maxLength: 2 }),
          anyOf: fc.array(tie("schema"), { maxLength: 3 }),
          oneOf: fc.array(tie("schema"), { maxLength: 3 }),
          allOf: fc.array(tie("schema"), { maxLength: 2 }),
          not: tie("schema"),
          enum: fc.array(fc.jsonValue(), { maxLength: 3 }),
          const: fc.jsonValue(),
          default: fc.jsonValue(),
          description: fc.oneof(fc.string({ unit: "binary" }), fc.constant("x".repeat(5000)), fc.constant(7)),
          format: fc.constantFrom<unknown>("uuid", "date-time", "int32", "made-up", 7),
          pattern: fc.constantFrom<unknown>("^(?=a)", "^[a-z]+$", "(", 7),
          minimum: fc.constantFrom<unknown>(-9_007_199_254_740_991, 3, "x"),
          maxLength: fc.constantFrom<unknown>(80, 1e300, -1, "x"),
          nullable: fc.boolean(),
          if: tie("schema"),
        },
        { requiredKeys: [] },
      ),
    ),
  }));
  const root = fc.tuple(schema, schema).map(([it, a]) => ({ ...(typeof it === "object" ? it : {}), $defs: { a } }));
  fc.assert(
    fc.property(root, (input) => {
      expectAccepted(input);
      const { schema: portable, toInput } = convert(input);
      const names = Object.keys(portable["properties"] as object);
      const restored = toInput(Object.fromEntries(names.map((key) => [key, 1])));
      const isWrapped = names.length === 1 && names[0] === "input";
      expect(isWrapped ? 1 : Object.keys(restored as object).length).toBe(names.length);
    }),
    { numRuns: 300 },
  );
});
