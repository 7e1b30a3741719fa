import { expect, test } from "vitest";
import { createDirectTool } from "../../server/mcp/direct-tool.ts";
import { DIRECT_TOOL_OUTPUT, formatProcedureResult } from "../../server/mcp/direct-tool-result.ts";
import { liveProcedure } from "../support/procedures/procedure-fixture.ts";

const LIMIT = 24_000;

const format = (output: unknown, kind: "query" | "mutation" = "query") =>
  formatProcedureResult({ ok: true, output }, kind);

test.each([
  [{ a: [1, "two", null] }, { a: [1, "two", null] }],
  [undefined, null],
  [null, null],
  [{ id: 12_345_678_901_234_567_890n }, { id: "12345678901234567890" }],
  [new Set([1, 2]), [1, 2]],
  [new Map([["a", 1]]), [["a", 1]]],
])("a response %o of an app is returned as JSON", (output, expected) => {
  const { text, isError } = format(output);
  expect([JSON.parse(text), isError]).toEqual([{ output: expected }, false]);
});

test("an error of an app is an error of the tool, with its status and message", () => {
  const { text, isError } = formatProcedureResult({ ok: false, status: 422, message: 'no "name"' }, "query");
  expect([JSON.parse(text), isError]).toEqual([{ app_error: { status: 422, message: 'no "name"' } }, true]);
});

test("a response that is nested too deeply is an error of the app", () => {
  let output: unknown = [];
  for (let depth = 0; depth < 50_000; depth++) output = [output];
  const { text, isError } = format(output);
  expect([JSON.parse(text), isError]).toEqual([
    { app_error: { status: 502, message: "The app's response is nested too deeply." } },
    true,
  ]);
});

test("an error other than the depth of a response is thrown", () => {
  const output = {
    toJSON: () => {
      throw new TypeError("broken");
    },
  };
  expect(() => format(output)).toThrow("broken");
});

test("a response that fits exactly is complete, and one character more is cut", () => {
  const longest = "x".repeat(LIMIT - 600 - 2);
  expect(JSON.parse(format(longest).text)).toEqual({ output: longest });
  const cut = JSON.parse(format(`${longest}x`).text) as { output_cut: string; note: string };
  expect(Object.keys(cut)).toEqual(["output_cut", "note"]);
  // The quotation mark at the beginning is escaped.
  expect(cut.output_cut).toBe(`"${"x".repeat(LIMIT - 600 - 4)}`);
  expect(cut.note).toContain(`has ${LIMIT - 600 + 1} characters of JSON`);
  expect(cut.note).toContain(`the first ${LIMIT - 600 - 3}.`);
});

test.each(['"', "\\", "a", 'a"'])(
  "a cut response of many %s is as long as the limit allows, with its escapes",
  (part) => {
    const { text } = format(part.repeat(30_000));
    const { output_cut: cut } = JSON.parse(text) as { output_cut: string };
    const length = JSON.stringify(cut).length;
    expect(length).toBeLessThanOrEqual(LIMIT - 600);
    expect(length).toBeGreaterThanOrEqual(LIMIT - 600 - 1);
    expect(text.length).toBeLessThanOrEqual(LIMIT);
  },
);

test("the note of a cut response warns against repeating a mutation, and not against repeating a query", () => {
  const noteOf = (kind: "query" | "mutation") =>
    (JSON.parse(format("x".repeat(LIMIT), kind).text) as { note: string }).note;
  expect(noteOf("mutation")).toContain("do not repeat the call");
  expect(noteOf("query")).toMatch(/contains the first \d+\. Request less/);
});

test("the output schema of direct tools has a type for every member, since some clients reject a schema without one", () => {
  const { type, properties } = DIRECT_TOOL_OUTPUT;
  expect(type).toBe("object");
  expect(properties.output.anyOf).toEqual(
    ["object", "array", "string", "number", "boolean", "null"].map((name) => ({ type: name })),
  );
  expect([properties.output_cut.type, properties.note.type]).toEqual(["string", "string"]);
  expect(properties.app_error).toEqual({
    type: "object",
    properties: { status: { type: "integer" }, message: { type: "string" } },
    required: ["status", "message"],
  });
  for (const member of [properties.output, properties.output_cut, properties.note])
    expect(member.description).not.toBe("");
});

test("a direct tool says which procedure it calls, whether it reads or writes, and quotes the app's description", () => {
  const query = createDirectTool("shop_list", liveProcedure("shop", "list", { description: 'Lists "all".' }));
  expect(query).toEqual({
    name: "shop_list",
    title: "shop: list",
    description: 'Calls the procedure list of the app shop, which reads. The app\'s description: "Lists \\"all\\"."',
    inputSchema: { type: "object" },
    outputSchema: DIRECT_TOOL_OUTPUT,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  });
  const mutation = createDirectTool("shop_add", liveProcedure("shop", "add", { kind: "mutation" }));
  expect(mutation.description).toBe("Calls the procedure add of the app shop, which writes.");
  expect(mutation.annotations).toEqual({
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  });
});

test("the description of an app is cut to 1,000 characters", () => {
  const { description } = createDirectTool("a_b", liveProcedure("a", "b", { description: "x".repeat(1001) }));
  expect(description).toContain(`"${"x".repeat(1000)}"`);
});

/** An input schema whose JSON has the given length. */
function schemaOfLength(length: number) {
  const schema = (description: string) => ({ type: "object", properties: { a: { type: "string", description } } });
  return schema("x".repeat(length - JSON.stringify(schema("")).length));
}

test("an input schema of 8,000 characters is listed completely, and a longer one with names and types only", () => {
  const listed = (inputSchema: Record<string, unknown>) =>
    createDirectTool("a_b", liveProcedure("a", "b", { inputSchema }));
  const whole = listed(schemaOfLength(8000));
  expect(whole.inputSchema).toEqual(schemaOfLength(8000));
  expect(whole.description).not.toContain("too large");
  const reduced = listed(schemaOfLength(8001));
  expect(reduced.inputSchema).toEqual({ type: "object", properties: { a: { type: "string" } } });
  expect(reduced.description).toContain("which reads. The input schema is too large to be listed");
});

test("a reduced input schema has the first 50 properties with names of at most 100 characters", () => {
  const names = ["n".repeat(101), "n".repeat(100), ...Array.from({ length: 60 }, (_, index) => `p${index}`)];
  const property = { type: ["string", "null"], description: "x".repeat(200) };
  const inputSchema = { type: "object", properties: Object.fromEntries(names.map((name) => [name, property])) };
  const { inputSchema: reduced } = createDirectTool("a_b", liveProcedure("a", "b", { inputSchema }));
  expect(Object.entries((reduced as { properties: object }).properties)).toEqual(
    names.slice(1, 51).map((name) => [name, {}]),
  );
});

test("a large input schema without properties, or with one that is not a schema, accepts every input", () => {
  const reduce = (inputSchema: Record<string, unknown>) =>
    createDirectTool("a_b", liveProcedure("a", "b", { inputSchema })).inputSchema;
  const description = "x".repeat(8000);
  expect(reduce({ description })).toEqual({ type: "object", properties: {} });
  expect(reduce({ description, properties: { a: true } })).toEqual({ type: "object", properties: { a: {} } });
});
