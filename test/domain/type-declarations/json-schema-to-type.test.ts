import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { schemaType, type TypeBounds } from "../../../domain/type-declarations/json-schema-to-type.ts";
import { typeErrors } from "../../support/procedures/check-types.ts";

const BOUNDS: TypeBounds = { characters: 16_000, depth: 24, properties: 200, comments: false };

/** The type, and those that it needs declared. */
function typed(schema: object, bounds: Partial<TypeBounds> = {}): [type: string, ...declared: string[]] {
  const declared: string[] = [];
  const names = {
    next: () => `T${declared.push("") + 0}`,
    declare: (name: string, type: string) => void (declared[Number(name.slice(1)) - 1] = `${name} = ${type}`),
  };
  const type = schemaType(schema as Record<string, unknown>, { ...BOUNDS, ...bounds }, names);
  return [type, ...declared];
}

/** A text of JSON, in which `__proto__` is a property like any other. */
const parsed = (json: string) => JSON.parse(json) as object;

const object = (properties: object, ...required: string[]) => ({ type: "object", properties, required });
const string = { type: "string" };
const number = { type: "number" };

describe("the type of a schema", () => {
  test.each<[string, object, string]>([
    ["nothing said", {}, "unknown"],
    ["text", string, "string"],
    ["an integer", { type: "integer", minimum: 0 }, "number"],
    ["several types", { type: ["string", "null", "boolean"] }, "string | null | boolean"],
    ["a type nobody knows", { type: "decimal" }, "unknown"],
    ["nullable as OpenAPI 3.0 has it", { ...string, nullable: true }, "string | null"],
    ["an enum", { type: "string", enum: ["a", 'b"', 3, null] }, String.raw`"a" | "b\"" | 3 | null`],
    ["an enum of many", { enum: Array.from({ length: 50 }, (_, n) => `v${n}`) }, "string"],
    ["a constant", { const: { a: [1, "x", null], "b-c": true } }, '{ a: [1, "x", null]; "b-c": true }'],
    ["a list", { type: "array", items: string }, "string[]"],
    ["a list of either", { type: "array", items: { type: ["string", "null"] } }, "(string | null)[]"],
    ["a list of anything", { type: "array" }, "unknown[]"],
    ["a tuple", { type: "array", prefixItems: [string, number] }, "[string, number]"],
    ["a tuple with a rest", { type: "array", prefixItems: [string], items: number }, "[string, ...number[]]"],
    ["a tuple that may end", { prefixItems: [string, { enum: [1, 2] }], minItems: 1 }, "[string, (1 | 2)?]"],
    ["a tuple of draft 7", { items: [string, number], additionalItems: false }, "[string, number]"],
    ["an object", object({ a: string, b: number }, "a"), "{ a: string; b?: number }"],
    [
      "names that are none",
      object({ "a-b": string, "": string, 1: string }),
      '{ "1"?: string; "a-b"?: string; ""?: string }',
    ],
    ["an object of any", { type: "object" }, "{ [key: string]: unknown }"],
    ["an object of none", { type: "object", additionalProperties: false }, "{ [key: string]: never }"],
    ["a record", { type: "object", additionalProperties: number }, "{ [key: string]: number }"],
    [
      "a record of patterns",
      { patternProperties: { "^x": number }, additionalProperties: false },
      "{ [key: string]: number }",
    ],
    [
      "a record with names",
      { ...object({ a: string }, "a"), additionalProperties: {} },
      "{ a: string; [key: string]: unknown }",
    ],
    [
      "names that are only required",
      { type: "object", required: ["a"], additionalProperties: number },
      "{ a: number; [key: string]: unknown }",
    ],
    ["a choice", { anyOf: [string, number, string] }, "string | number"],
    ["a choice with anything", { oneOf: [string, {}] }, "unknown"],
    [
      "all of several",
      { allOf: [object({ a: string }), object({ b: string }, "b")] },
      "{ a?: string } & { b: string }",
    ],
    [
      "a choice beside properties",
      { ...object({ a: string }), anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      "{ a?: string }",
    ],
    [
      "all of a choice",
      { allOf: [{ anyOf: [string, number] }, { anyOf: [number, string] }] },
      "(string | number) & (number | string)",
    ],
    ["a reference", { ...object({ a: { $ref: "#/$defs/A~1%20b" } }), $defs: { "A/ b": number } }, "{ a?: number }"],
    ["a reference to nothing", { $ref: "#/$defs/A" }, "unknown"],
    ["a reference to elsewhere", { $ref: "https://example.com/a.json" }, "unknown"],
    ["a reference to what every object has", { $ref: "#/constructor" }, "unknown"],
    ["a reference that is none", { $ref: "#/%" }, "unknown"],
    ["a schema that never fits", object({ a: false }), "{ a?: never }"],
    [
      "properties that are no object",
      { type: "object", properties: [string], required: "a" },
      "{ [key: string]: unknown }",
    ],
  ])("of %s", (_what, schema, expected) => {
    expect(typed(schema)).toEqual([expected]);
  });

  test("has names of its own for what refers to itself", () => {
    const tree = { ...object({ kids: { type: "array", items: { $ref: "#/$defs/N" } } }, "kids") };
    expect(typed({ $ref: "#/$defs/N", $defs: { N: tree } })).toEqual(["T1", "T1 = { kids: T1[] }"]);
    expect(typed(object({ next: { anyOf: [{ $ref: "#" }, { type: "null" }] } }))).toEqual([
      "T1",
      "T1 = { next?: T1 | null }",
    ]);
    const mutual = { A: object({ b: { $ref: "#/$defs/B" } }), B: object({ a: { $ref: "#/$defs/A" } }) };
    expect(typed({ ...object({ x: { $ref: "#/$defs/A" }, y: { $ref: "#/$defs/A" } }), $defs: mutual })).toEqual([
      "{ x?: T1; y?: T1 }",
      "T1 = { b?: { a?: T1 } }",
    ]);
  });

  test("is unknown where it would be nothing but itself, or can have no name", () => {
    expect(typed({ $ref: "#" })).toEqual(["unknown"]);
    expect(typed({ anyOf: [string, { $ref: "#" }] })).toEqual(["unknown"]);
    expect(schemaType(object({ next: { $ref: "#" } }), BOUNDS, null)).toBe("{ next?: unknown }");
  });

  test("names properties as they are, those of every object too", () => {
    const schema =
      parsed(`{ "properties": { "__proto__": { "type": "string" }, "constructor": {}, "new": {}, "toString": {} },
      "required": ["__proto__", "hasOwnProperty"] }`);
    const [type] = typed(schema);
    expect(type).toBe(
      '{ __proto__: string; constructor?: unknown; "new"?: unknown; toString?: unknown; hasOwnProperty: unknown }',
    );
    expect(typeErrors(`declare const it: ${type};`, "const text: string = it.__proto__; void text")).toEqual([]);
  });

  test("shows what a schema says of its properties in quotation marks, whatever it is", () => {
    const description = 'ends */ here \u2028 \u202E"\n// @ts-nocheck \u{E0041}';
    const [type] = typed(object({ due: { ...string, description, format: "date" } }), { comments: true });
    expect(type).toBe(
      String.raw`{ /** "ends *\/ here \u2028 \u202e\"\n// @ts-nocheck \udb40\udc41", "date" */ due?: string }`,
    );
  });

  test("ends at its bounds, and leaves open what it does not show", () => {
    const wide = object(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, string])));
    expect(typed(wide, { properties: 2 })).toEqual([
      "{ p0?: string; p1?: string; /* 28 more */ [key: string]: unknown }",
    ]);
    expect(typed(object({ ["x".repeat(300)]: string }))).toEqual(["{ /* 1 more */ [key: string]: unknown }"]);
    let deep: object = string;
    for (let n = 0; n < 5; n++) deep = object({ a: deep });
    expect(typed(deep, { depth: 3 })).toEqual(["{ a?: { a?: { a?: unknown } } }"]);
    // Each definition refers to the next one twice.
    const doubling = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        `d${n}`,
        object({ a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } }),
      ]),
    );
    const [type] = typed({ $ref: "#/$defs/d0", $defs: doubling }, { depth: 100 });
    expect(type.length).toBeLessThan(BOUNDS.characters * 3);
    expect(typeErrors(`declare const it: ${type};`, "void it")).toEqual([]);
  });

  test("of what zod describes is the type that zod infers", () => {
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
    const [type, ...declared] = typed(z.toJSONSchema(shape, { io: "input" }));
    const declarations = `${declared.map((each) => `type ${each};`).join("\n")} declare function take(it: ${type}): void;`;
    const right = `{ id: 1, owner: { kind: "team", size: null }, labels: { a: true }, grades: { x: 1, y: 2 } }`;
    expect(typeErrors(declarations, `take({ ...${right}, tags: ["a"], pair: ["x", 1], parent: ${right} })`)).toEqual(
      [],
    );
    const wrong = [
      `{ ...${right}, id: "1" }`,
      `{ ...${right}, tags: ["c"] }`,
      `{ ...${right}, pair: ["x"] }`,
      `{ ...${right}, parent: {} }`,
      `{ ...${right}, owner: { kind: "team" } }`,
      `{ ...${right}, grades: { x: 1 } }`,
    ];
    for (const each of wrong) expect([each, typeErrors(declarations, `take(${each})`).length]).toEqual([each, 1]);
  });

  test("is one that the compiler takes, whatever the schema", () => {
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
      const type = schemaType(each, { ...BOUNDS, comments: true }, names);
      return `${declared}type Root${at} = ${type};`;
    });
    expect(typeErrors(types.join("\n"), "")).toEqual([]);
  });
});
