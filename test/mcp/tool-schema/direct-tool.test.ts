import { expect, test } from "vitest";
import type { JsonSchema } from "../../../domain/ports/procedure-discovery.ts";
import { createDirectTool } from "../../../server/mcp/direct-tool.ts";
import { liveProcedure } from "../../support/procedures/procedure-fixture.ts";

test("a direct tool names its procedure and app, quotes the app's description, and says whether it reads or writes", () => {
  const query = createDirectTool("shop_list", liveProcedure("shop", "list", { description: 'Lists "all".' }));
  expect(query.tool).toEqual({
    name: "shop_list",
    title: "shop: list",
    description: 'Procedure list of the app shop. The app\'s description: "Lists \\"all\\"."',
    inputSchema: { type: "object", properties: {} },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  });
  const mutation = createDirectTool("shop_add", liveProcedure("shop", "add", { kind: "mutation" }));
  expect(mutation.tool.description).toBe("Procedure add of the app shop.");
  expect(mutation.tool.annotations).toEqual({
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  });
});

test("a short type of the output, and the alternatives of the input, are part of the description", () => {
  const object = (properties: object) => ({ type: "object", properties, required: Object.keys(properties) });
  const inputSchema = { anyOf: [object({ id: { type: "integer" } }), object({ email: { type: "string" } })] };
  const procedure = liveProcedure("shop", "find", { inputSchema, outputSchema: object({ name: { type: "string" } }) });
  expect(createDirectTool("shop_find", procedure).tool.description).toBe(
    "Procedure find of the app shop. Input: { id: number } | { email: string }. Output: { name: string }.",
  );
});

test("a description has at most 1,024 characters, whatever the app says", () => {
  for (const description of ["x".repeat(2000), '"'.repeat(2000), "\u0001".repeat(2000), "😀".repeat(1000)]) {
    const { tool } = createDirectTool("a_b", liveProcedure("a", "b", { description }));
    expect(tool.description.length).toBeLessThanOrEqual(1024);
    expect(tool.description.length).toBeGreaterThan(1000);
    expect(tool.description.isWellFormed()).toBe(true);
  }
});

const listed = (inputSchema: JsonSchema) => createDirectTool("a_b", liveProcedure("a", "b", { inputSchema })).tool;

test("a schema beyond 8,000 characters is listed with fewer levels, or with names and types only, and the description says so", () => {
  const deep = (count: number) => {
    const inner = { type: "object", properties: { text: { type: "string", description: "y".repeat(80) } } };
    const fields = Array.from({ length: count }, (_, at) => [`p${at}`, inner] as const);
    return { type: "object", properties: Object.fromEntries(fields) };
  };
  expect(listed(deep(10)).description).toBe("Procedure b of the app a.");
  expect(JSON.stringify(listed(deep(10)).inputSchema)).toContain("yyyy");
  const reduced = listed(deep(100));
  expect(reduced.inputSchema).toMatchObject({ properties: { p0: { type: "object" } } });
  expect(JSON.stringify(reduced.inputSchema)).not.toContain("yyyy");
  expect(reduced.description).toContain('Parts of its input are not listed: service.types("a")');
});

test("a reduced schema has the names and types of the first 50 properties, and requires none", () => {
  const names = Array.from({ length: 60 }, (_, index) => `p${index}`);
  const property = { type: "string", description: "x".repeat(500) };
  const properties = Object.fromEntries(names.map((name) => [name, property]));
  const { inputSchema } = listed({ type: "object", properties, required: names });
  expect(inputSchema).toEqual({
    type: "object",
    properties: Object.fromEntries(names.slice(0, 50).map((name) => [name, { type: "string" }])),
  });
});
