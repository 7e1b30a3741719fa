import { expect, test } from "vitest";
import { formatProcedureResult } from "../../server/mcp/direct-tool-result.ts";

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
