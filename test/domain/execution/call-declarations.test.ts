import { expect, test } from "vitest";
import { declareApp, declareTools } from "../../../domain/execution/call-declarations.ts";
import { liveProcedure } from "../../support/procedures/procedure-fixture.ts";

const string = { type: "string" };
const object = (properties: object, ...required: string[]) => ({ type: "object", properties, required });
/** A recursive schema, whose type needs a name. */
const NODE = object({ kids: { type: "array", items: { $ref: "#" } } });

const procedure = (name: string, overrides: Parameters<typeof liveProcedure>[2] = {}) =>
  liveProcedure("shop-k7m2xq", name, overrides);

test("tools are declared with the first sentence of their descriptions", () => {
  const tools = [
    ["list", "Lists v1.5 apps. At length.", object({ limit: { type: "integer" } }), string],
    ["other-tool", "Never ends", object({ a: string }, "a"), NODE],
    ["third", "Two\nlines. More.", {}, NODE],
  ] as const;
  const declared = declareTools(
    tools.map(([name, description, inputSchema, outputSchema]) => ({ name, description, inputSchema, outputSchema })),
  );
  expect(declared).toBe(`type ToolType1 = { kids?: ToolType1[] };
type ToolType2 = { kids?: ToolType2[] };
interface ServiceTools {
  /** "Lists v1.5 apps." */
  list(input?: { limit?: number }): Promise<string>;
  /** "Never ends" */
  "other-tool"(input: { a: string }): Promise<ToolType1>;
  /** "Two\\nlines." */
  third(input?: { [key: string]: unknown }): Promise<ToolType2>;
}`);
});

test("the procedures of an app are grouped by the parts of their names, and a group can be a procedure too", () => {
  const procedures = [
    procedure("orders.list", { description: "Lists." }),
    procedure("orders.items.add", { kind: "mutation", inputSchema: object({ id: { type: "integer" } }, "id") }),
    procedure("ping"),
    procedure("orders", { description: "All */" }),
    procedure("tree", { kind: "mutation", description: "x".repeat(1001), outputSchema: NODE }),
  ];
  expect(declareApp("shop-k7m2xq", procedures, 7, 10_000)).toBe(`type App7Type1 = { kids?: App7Type1[] };
interface ServiceApps {
  "shop-k7m2xq": {
    /** Reads: "All *\\/" */
    orders: {
      (input?: { [key: string]: unknown }): Promise<unknown>;
      /** Reads: "Lists." */
      list(input?: { [key: string]: unknown }): Promise<unknown>;
      items: {
        /** Writes */
        add(input: { id: number }): Promise<unknown>;
      };
    };
    /** Reads */
    ping(input?: { [key: string]: unknown }): Promise<unknown>;
    /** Writes: "${"x".repeat(1000)}" */
    tree(input?: { [key: string]: unknown }): Promise<App7Type1>;
  };
}`);
});

test("descriptions of properties are shown, and a type may use an eighth of the remaining bytes", () => {
  const described = { ...string, description: "What to find" };
  const search = procedure("search", { inputSchema: object({ text: described }) });
  expect(declareApp("shop", [search], 1, 10_000)).toContain('{ /** "What to find" */ text?: string }');
  const long = object(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`field${n}`, string])));
  const declared = declareApp("shop", [procedure("a", { inputSchema: long })], 1, 4000);
  const shown = /field(\d+)\?: \w+;\n\s+\/\* (\d+) more/.exec(declared);
  expect(Number(shown?.[1]) + 1 + Number(shown?.[2])).toBe(100);
  expect(declared.length).toBeGreaterThan(4000 / 8);
  expect(declared.length).toBeLessThan(4000 / 4);
});

const WIDE = object(
  Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`field${n}`, { ...string, description: "é" }])),
);

test.each([
  ["short", (n: number) => procedure(`p${n}`)],
  ["described", (n: number) => procedure(`p${n}`, { description: "é".repeat(50) })],
  ["nested", (n: number) => procedure(`a${n}.b.c.d.e.f`)],
  ["large", (n: number) => procedure(`a${n}.b`, { inputSchema: WIDE, outputSchema: WIDE })],
  ["recursive", (n: number) => procedure(`p${n}`, { outputSchema: NODE })],
])("the declarations of many %s procedures stay within their bytes, and say how many are left out", (_name, create) => {
  const procedures = Array.from({ length: 200 }, (_, n) => create(n));
  for (const maxBytes of [3000, 5000]) {
    const declared = declareApp("shop", procedures, 1, maxBytes);
    const bytes = Buffer.byteLength(declared);
    expect([maxBytes, bytes <= maxBytes, bytes >= maxBytes * 0.7]).toEqual([maxBytes, true, true]);
    const shown = declared.match(/Promise</g)?.length ?? 0;
    expect(declared).toContain(`/* ${200 - shown} more */ [step: string]: any`);
  }
});
