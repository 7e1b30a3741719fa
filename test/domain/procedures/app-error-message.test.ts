import { expect, test } from "vitest";
import { formatAppErrorMessage } from "../../../domain/procedures/app-error-message.ts";
import { describeArguments } from "../../../domain/procedures/describe-arguments.ts";

const SCHEMA = { type: "object", properties: { id: { type: "number" }, note: {} }, required: ["id"] };
const ARGUMENTS = "Arguments: id, note (optional).";

const INVALID: [string, unknown][] = [
  ["zod", [{ code: "invalid_type", expected: "number", path: ["id"], message: "Expected a number" }]],
  ["zod in an object", { success: false, error: { issues: [{ path: ["id"], message: "Expected a number" }] } }],
  ["a JSON Schema validator", { errors: [{ instancePath: "/id", message: "Expected a number" }] }],
  ["FastAPI", { detail: [{ loc: ["id"], msg: "Expected a number", type: "int_parsing" }] }],
];

for (const [source, issues] of INVALID)
  test(`the issues of ${source} become one sentence, with the names of the arguments`, () => {
    const message = JSON.stringify(issues, null, 2);
    expect(formatAppErrorMessage({ status: 400, message }, SCHEMA)).toBe(
      `Invalid arguments: id: Expected a number. ${ARGUMENTS}`,
    );
  });

test("the issues of an MCP tool are found after the SDK's sentence, whatever the status", () => {
  const issues = JSON.stringify([
    { path: ["lines", 0, "cents"], message: "Too small" },
    { path: [], message: "Unrecognized key: x" },
  ]);
  const message = `MCP error -32602: Input validation error: Invalid arguments for tool pay: ${issues}`;
  expect(formatAppErrorMessage({ status: 200, message }, SCHEMA)).toBe(
    `Invalid arguments: lines.0.cents: Too small; Unrecognized key: x. ${ARGUMENTS}`,
  );
});

test("a message without issues is kept, and a rejected input also names the arguments", () => {
  expect(formatAppErrorMessage({ status: 404, message: "Invoice not found" }, SCHEMA)).toBe("Invoice not found");
  expect(formatAppErrorMessage({ status: 422, message: '{"error":"id: required"}' }, SCHEMA)).toBe(
    `id: required ${ARGUMENTS}`,
  );
  expect(formatAppErrorMessage({ status: 500, message: '{"error":{"message":"Broken"}}' }, SCHEMA)).toBe("Broken");
  const long = "x".repeat(2000);
  expect(formatAppErrorMessage({ status: 400, message: long }, SCHEMA)).toBe(long);
});

test("a schema of an app cannot make the message long", () => {
  const properties = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`p${at}`, {}]));
  const message = formatAppErrorMessage(
    { status: 400, message: "Bad" },
    { properties: { ["x".repeat(101)]: {}, ...properties }, required: "p0" },
  );
  expect(message).toMatch(/^Bad Arguments: p0 \(optional\), .*p49 \(optional\), …\.$/);
});

test("the issues of every framework are found, and anything else is not an issue", () => {
  const format = (value: unknown, status = 200) =>
    formatAppErrorMessage({ status, message: JSON.stringify(value) }, SCHEMA);
  const issue = { path: ["id"], message: "Required" };
  const expected = `Invalid arguments: id: Required. ${ARGUMENTS}`;
  for (const value of [
    [issue],
    { issues: [issue] },
    { errors: [issue] },
    { detail: [issue] },
    { error: { issues: [issue] } },
    { errors: "no list", detail: { errors: [issue] } },
    [issue, null, "text", {}, { message: 7 }],
    [{ loc: ["id"], msg: "Required" }],
    [{ instancePath: "/id", message: "Required" }],
  ])
    expect([value, format(value)]).toEqual([value, expected]);
  expect(format([{ path: "/lines/0/cents", message: "Too small" }])).toContain("lines.0.cents: Too small.");
  expect(format([{ path: ["a", { b: 1 }, 2, null], message: "Wrong" }])).toContain("Invalid arguments: a.2: Wrong.");
  for (const path of [[], undefined, 7]) expect(format([{ path, message: "Wrong" }])).toContain("arguments: Wrong.");
  const many = Array.from({ length: 21 }, (_, at) => ({ path: [], message: `m${at}` }));
  expect(format(many)).toMatch(/: m0; m1; .*; m19\. Arguments/);
  for (const value of [[], [{ message: 7 }], {}, 7])
    expect([value, format(value)]).toEqual([value, JSON.stringify(value)]);
});

test("the message is found in every member that frameworks use", () => {
  const format = (value: unknown) => formatAppErrorMessage({ status: 500, message: JSON.stringify(value) }, SCHEMA);
  for (const value of [
    { message: "Broken" },
    { detail: "Broken" },
    { error: "Broken" },
    { title: "Broken" },
    { message: "", title: "Broken" },
    { message: 7, detail: "Broken", title: "Other" },
    { error: { message: "Broken" } },
    { error: { error: { title: "Broken" } } },
  ])
    expect([value, format(value)]).toEqual([value, "Broken"]);
  for (const value of [{ other: "Broken" }, { error: ["Broken"] }, { message: "" }])
    expect([value, format(value)]).toEqual([value, JSON.stringify(value)]);
});

test("only a rejected input names the arguments, and a long message is cut", () => {
  const format = (status: number, message: string) => formatAppErrorMessage({ status, message }, SCHEMA);
  for (const status of [400, 422]) expect(format(status, "Bad")).toBe(`Bad ${ARGUMENTS}`);
  for (const status of [200, 401, 404, 500]) expect(format(status, "Bad")).toBe("Bad");
  const room = 2000 - ` ${ARGUMENTS}`.length;
  expect(format(400, "x".repeat(room))).toBe(`${"x".repeat(room)} ${ARGUMENTS}`);
  expect(format(400, "x".repeat(room + 1))).toBe("x".repeat(room + 1));
  expect(format(400, "x".repeat(2001))).toBe("x".repeat(2000));
});

test("the sentence about the arguments marks the optional ones, and leaves out long names and those after the 50th", () => {
  const properties = (...names: string[]) => Object.fromEntries(names.map((name) => [name, {}]));
  const [longest, tooLong] = ["x".repeat(100), "x".repeat(101)];
  for (const [schema, sentence] of [
    [{}, "The tool has no arguments."],
    [{ properties: properties(tooLong) }, "The tool has no arguments."],
    [{ properties: properties("a", "b"), required: ["b"] }, "Arguments: a (optional), b."],
    [{ properties: properties("a"), required: "a" }, "Arguments: a (optional)."],
    [{ properties: properties(longest, tooLong), required: [longest] }, `Arguments: ${longest}.`],
  ] as const)
    expect(describeArguments(schema)).toBe(sentence);
  const names = Array.from({ length: 51 }, (_, at) => `p${at}`);
  const fifty = names.slice(0, 50);
  expect(describeArguments({ properties: properties(...fifty), required: fifty })).toBe(
    `Arguments: ${fifty.join(", ")}.`,
  );
  expect(describeArguments({ properties: properties(...names), required: names })).toBe(
    `Arguments: ${fifty.join(", ")}, ….`,
  );
});

test("JSON after a space and locations without a slash at the beginning are read, too", () => {
  const format = (message: string) => formatAppErrorMessage({ status: 500, message }, SCHEMA);
  expect(format(' {"message":"Broken"}')).toBe("Broken");
  expect(format('[{"path":"lines/0/cents","message":"Too small"}]')).toContain("lines.0.cents: Too small.");
});
