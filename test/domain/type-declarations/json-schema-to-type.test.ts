import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { jsonSchemaToType, type TypeBounds } from "../../../domain/type-declarations/json-schema-to-type.ts";
import { findTypeErrors } from "../../support/procedures/check-types.ts";

const BOUNDS: TypeBounds = { characters: 16_000, depth: 24, properties: 200, comments: false };

/** Converts a schema. Returns its type, followed by the types that it declares. */
function convert(schema: object, bounds: Partial<TypeBounds> = {}): [type: string, ...declared: string[]] {
  const declared: string[] = [];
  const names = {
    next: () => `T${declared.push("") + 0}`,
    declare: (name: string, type: string) => void (declared[Number(name.slice(1)) - 1] = `${name} = ${type}`),
  };
  const type = jsonSchemaToType(schema as Record<string, unknown>, { ...BOUNDS, ...bounds }, names);
  return [type, ...declared];
}

/** Parses JSON. Unlike in a literal, `__proto__` is an ordinary property. */
const parseObject = (json: string) => JSON.parse(json) as object;

const object = (properties: object, ...required: string[]) => ({ type: "object", properties, required });
const string = { type: "string" };
const number = { type: "number" };
const numbers = (length: number) => Array.from({ length }, () => number);

describe("converting a JSON Schema to a type", () => {
  test.each<[string, object, string]>([
    ["an empty schema", {}, "unknown"],
    ["a string", string, "string"],
    ["an integer", { type: "integer", minimum: 0 }, "number"],
    ["several types", { type: ["string", "null", "boolean"] }, "string | null | boolean"],
    ["an unknown type", { type: "decimal" }, "unknown"],
    ["nullable of OpenAPI 3.0", { ...string, nullable: true }, "string | null"],
    ["an enum", { type: "string", enum: ["a", 'b"', 3, null] }, String.raw`"a" | "b\"" | 3 | null`],
    ["an enum with many values", { enum: Array.from({ length: 50 }, (_, n) => `v${n}`) }, "string"],
    ["a constant", { const: { a: [1, "x", null], "b-c": true } }, '{ a: [1, "x", null]; "b-c": true }'],
    ["an array", { type: "array", items: string }, "string[]"],
    ["an array of a union", { type: "array", items: { type: ["string", "null"] } }, "(string | null)[]"],
    ["an array of anything", { type: "array" }, "unknown[]"],
    ["a tuple", { type: "array", prefixItems: [string, number] }, "[string, number]"],
    ["a tuple with a rest", { type: "array", prefixItems: [string], items: number }, "[string, ...number[]]"],
    ["a tuple with optional items", { prefixItems: [string, { enum: [1, 2] }], minItems: 1 }, "[string, (1 | 2)?]"],
    ["a tuple of draft 7", { items: [string, number], additionalItems: false }, "[string, number]"],
    ["an object", object({ a: string, b: number }, "a"), "{ a: string; b?: number }"],
    [
      "names that are not identifiers",
      object({ "a-b": string, "": string, 1: string }),
      '{ "1"?: string; "a-b"?: string; ""?: string }',
    ],
    ["an object of anything", { type: "object" }, "{ [key: string]: unknown }"],
    ["an object without properties", { type: "object", additionalProperties: false }, "{ [key: string]: never }"],
    ["a record", { type: "object", additionalProperties: number }, "{ [key: string]: number }"],
    [
      "a record with patterns",
      { patternProperties: { "^x": number }, additionalProperties: false },
      "{ [key: string]: number }",
    ],
    [
      "a record with named properties",
      { ...object({ a: string }, "a"), additionalProperties: {} },
      "{ a: string; [key: string]: unknown }",
    ],
    [
      "required properties without a schema",
      { type: "object", required: ["a"], additionalProperties: number },
      "{ a: number; [key: string]: unknown }",
    ],
    [
      "an object that has no other properties",
      { ...object({ a: string }), additionalProperties: false },
      "{ a?: string }",
    ],
    ["a choice that includes nothing", { anyOf: [false, string] }, "string"],
    ["a choice of nothing", { anyOf: [false] }, "never"],
    ["equal parts", { allOf: [object({ a: string }), object({ a: string })] }, "{ a?: string }"],
    ["a part that accepts any object", { allOf: [{ type: "object" }, object({ a: string })] }, "{ a?: string }"],
    [
      "a part beside an object without properties",
      { allOf: [object({ a: string })], type: "object", additionalProperties: false },
      "{ a?: string }",
    ],
    ["parts that accept any object", { allOf: [{}, { type: "object" }] }, "{ [key: string]: unknown }"],
    ["a tuple of 16", { prefixItems: numbers(16) }, `[${"number, ".repeat(15)}number]`],
    ["a longer tuple", { prefixItems: numbers(17) }, "unknown[]"],
    ["a name of 200 characters", object({ ["x".repeat(200)]: string }), `{ ${"x".repeat(200)}?: string }`],
    ["a reference that is not a text", { $ref: ["#"], type: "string" }, "string"],
    ["a number of items that is not a number", { prefixItems: [string, number], minItems: "1" }, "[string, number]"],
    ["required properties that are not texts", { type: "object", required: [1, "a"] }, "{ a: unknown }"],
    ["a choice", { anyOf: [string, number, string] }, "string | number"],
    ["a choice that includes anything", { oneOf: [string, {}] }, "unknown"],
    ["allOf", { allOf: [object({ a: string }), object({ b: string }, "b")] }, "{ a?: string } & { b: string }"],
    [
      "a choice of required properties",
      { ...object({ a: string }), anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      "{ a?: string }",
    ],
    [
      "allOf of choices",
      { allOf: [{ anyOf: [string, number] }, { anyOf: [number, string] }] },
      "(string | number) & (number | string)",
    ],
    ["a reference", { ...object({ a: { $ref: "#/$defs/A~1%20b" } }), $defs: { "A/ b": number } }, "{ a?: number }"],
    ["a reference to nothing", { $ref: "#/$defs/A" }, "unknown"],
    ["a reference to another document", { $ref: "https://example.com/a.json" }, "unknown"],
    ["a reference to an inherited property", { $ref: "#/constructor" }, "unknown"],
    ["a malformed reference", { $ref: "#/%" }, "unknown"],
    ["a schema that accepts nothing", object({ a: false }), "{ a?: never }"],
    ["malformed properties", { type: "object", properties: [string], required: "a" }, "{ [key: string]: unknown }"],
  ])("%s is converted", (_description, schema, expected) => {
    expect(convert(schema)).toEqual([expected]);
  });

  test("a recursive schema gets a named type", () => {
    const tree = { ...object({ kids: { type: "array", items: { $ref: "#/$defs/N" } } }, "kids") };
    expect(convert({ $ref: "#/$defs/N", $defs: { N: tree } })).toEqual(["T1", "T1 = { kids: T1[] }"]);
    expect(convert(object({ next: { anyOf: [{ $ref: "#" }, { type: "null" }] } }))).toEqual([
      "T1",
      "T1 = { next?: T1 | null }",
    ]);
    const mutual = { A: object({ b: { $ref: "#/$defs/B" } }), B: object({ a: { $ref: "#/$defs/A" } }) };
    expect(convert({ ...object({ x: { $ref: "#/$defs/A" }, y: { $ref: "#/$defs/A" } }), $defs: mutual })).toEqual([
      "{ x?: T1; y?: T1 }",
      "T1 = { b?: { a?: T1 } }",
    ]);
  });

  test("a recursive schema is unknown where TypeScript allows no recursion, or no name is available", () => {
    expect(convert({ $ref: "#" })).toEqual(["unknown"]);
    expect(convert({ anyOf: [string, { $ref: "#" }] })).toEqual(["unknown"]);
    expect(jsonSchemaToType(object({ next: { $ref: "#" } }), BOUNDS, null)).toBe("{ next?: unknown }");
  });

  test("properties keep their names, also those that every object inherits", () => {
    const schema =
      parseObject(`{ "properties": { "__proto__": { "type": "string" }, "constructor": {}, "new": {}, "toString": {} },
      "required": ["__proto__", "hasOwnProperty"] }`);
    const [type] = convert(schema);
    expect(type).toBe(
      '{ __proto__: string; constructor?: unknown; "new"?: unknown; toString?: unknown; hasOwnProperty: unknown }',
    );
    expect(findTypeErrors(`declare const it: ${type};`, "const text: string = it.__proto__; void text")).toEqual([]);
  });

  test("descriptions are shown in quotation marks, with all special characters escaped", () => {
    const description = 'ends */ here \u2028 \u202E"\n// @ts-nocheck \u{E0041}';
    const [type] = convert(object({ due: { ...string, description, format: "date" } }), { comments: true });
    expect(type).toBe(
      String.raw`{ /** "ends *\/ here \u2028 \u202e\"\n// @ts-nocheck \udb40\udc41", "date" */ due?: string }`,
    );
  });

  test("a property is shown with a short format and the first 200 characters of its description", () => {
    const show = (property: object) => convert(object({ a: { ...string, ...property } }), { comments: true })[0];
    expect(show({})).toBe("{ a?: string }");
    expect(show({ description: "", format: 7 })).toBe("{ a?: string }");
    expect(show({ description: "x".repeat(201) })).toContain(`/** "${"x".repeat(200)}" */ a?: string`);
    expect(show({ format: "f".repeat(200) })).toContain(`/** "${"f".repeat(200)}" */ a?: string`);
    expect(show({ format: "f".repeat(201) })).toBe("{ a?: string }");
  });

  test("names and descriptions count against the bound on characters, and so does each schema", () => {
    expect(convert(string, { characters: 8 })).toEqual(["string"]);
    expect(convert(string, { characters: 7 })).toEqual(["unknown"]);
    const described = object({ a: { ...string, description: "x".repeat(150) }, b: string });
    expect(convert(described, { characters: 100 })).toEqual(["{ a?: string; b?: string }"]);
    const [type] = convert(described, { characters: 100, comments: true });
    expect(type).toBe("{ /* 2 more */ [key: string]: unknown }");
  });

  test("a property has the same depth, however many there are before it", () => {
    const nested = object({ a: object({ a: object({ a: string }) }) });
    expect(convert(object({ a: string, b: string, c: nested }), { depth: 3 })).toEqual([
      "{ a?: string; b?: string; c?: { a?: { a?: unknown } } }",
    ]);
  });

  test("a type ends at its bounds and accepts anything beyond them", () => {
    const wide = object(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, string])));
    expect(convert(wide, { properties: 2 })).toEqual([
      "{ p0?: string; p1?: string; /* 28 more */ [key: string]: unknown }",
    ]);
    expect(convert(object({ ["x".repeat(300)]: string }))).toEqual(["{ /* 1 more */ [key: string]: unknown }"]);
    let deep: object = string;
    for (let n = 0; n < 5; n++) deep = object({ a: deep });
    expect(convert(deep, { depth: 3 })).toEqual(["{ a?: { a?: { a?: unknown } } }"]);
    // Each definition refers to the next one twice.
    const doubling = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        `d${n}`,
        object({ a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } }),
      ]),
    );
    const [type] = convert({ $ref: "#/$defs/d0", $defs: doubling }, { depth: 100 });
    expect(type.length).toBeLessThan(BOUNDS.characters * 3);
    expect(findTypeErrors(`declare const it: ${type};`, "void it")).toEqual([]);
  });

  test("the type of a zod schema accepts and rejects the same values as the type that zod infers", () => {
    const shape = z.object({
      id: z.int(),
      tags: z.array(z.enum(["a", "b"])).default([]),
      owner: z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("person"), name: z.string() }),
        z.object({ kind: z.literal("team"), size: z.number().nullable() }),
      ]),
      pair: z.tuple([z.string(), z.number()]).optional(),
      labels: z.record(z.string(), z.boolean()),
      grades: z.record(z.enum(["x", "y"]), z.number()),
      get parent() {
        return shape.optional();
      },
    });
    const [type, ...declared] = convert(z.toJSONSchema(shape, { io: "input" }));
    const declarations = `${declared.map((each) => `type ${each};`).join("\n")} declare function accept(it: ${type}): void;`;
    const valid = `{ id: 1, owner: { kind: "team", size: null }, labels: { a: true }, grades: { x: 1, y: 2 } }`;
    expect(
      findTypeErrors(declarations, `accept({ ...${valid}, tags: ["a"], pair: ["x", 1], parent: ${valid} })`),
    ).toEqual([]);
    const invalid = [
      `{ ...${valid}, id: "1" }`,
      `{ ...${valid}, tags: ["c"] }`,
      `{ ...${valid}, pair: ["x"] }`,
      `{ ...${valid}, parent: {} }`,
      `{ ...${valid}, owner: { kind: "team" } }`,
      `{ ...${valid}, grades: { x: 1 } }`,
    ];
    for (const each of invalid)
      expect([each, findTypeErrors(declarations, `accept(${each})`).length]).toEqual([each, 1]);
  });

  test("the compiler accepts the type of any schema", () => {
    const key = fc.oneof(fc.constantFrom("__proto__", "new", "a", "constructor", "a b"), fc.string({ unit: "binary" }));
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.constantFrom<unknown>(
          true,
          false,
          null,
          7,
          "x",
          {},
          { $ref: "#" },
          { $ref: "#/$defs/a" },
          { $ref: "#/$defs/b" },
        ),
        fc.record(
          {
            type: fc.constantFrom<unknown>("string", "object", "array", "null", ["object", "null"], ["array"], []),
            description: fc.string({ unit: "binary" }),
            format: fc.string({ unit: "binary" }),
            nullable: fc.boolean(),
            const: fc.jsonValue(),
            enum: fc.array(fc.jsonValue(), { maxLength: 3 }),
            properties: fc.dictionary(key, tie("schema"), { maxKeys: 4 }),
            required: fc.array(key, { maxLength: 2 }),
            additionalProperties: tie("schema"),
            patternProperties: fc.dictionary(key, tie("schema"), { maxKeys: 2 }),
            items: fc.oneof(tie("schema"), fc.array(tie("schema"), { maxLength: 3 })),
            prefixItems: fc.array(tie("schema"), { maxLength: 3 }),
            minItems: fc.nat(3),
            allOf: fc.array(tie("schema"), { maxLength: 3 }),
            anyOf: fc.array(tie("schema"), { maxLength: 3 }),
            oneOf: fc.array(tie("schema"), { maxLength: 3 }),
          },
          { requiredKeys: [], noNullPrototype: true },
        ),
      ),
    }));
    const root = fc.tuple(schema, schema, schema).map(([it, a, b]) => {
      const own = typeof it === "object" && it !== null ? it : {};
      return { ...own, $defs: { a, b } };
    });
    const types = fc.sample(root, { numRuns: 400, seed: 7 }).map((each, at) => {
      let [declared, last] = ["", 0];
      const names = {
        next: () => `T${at}_${(last += 1)}`,
        declare: (name: string, type: string) => void (declared += `type ${name} = ${type};\n`),
      };
      const type = jsonSchemaToType(each, { ...BOUNDS, comments: true }, names);
      return `${declared}type Root${at} = ${type};`;
    });
    expect(findTypeErrors(types.join("\n"), "")).toEqual([]);
  });
});
