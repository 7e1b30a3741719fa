import { expect, test } from "vitest";
import { formatAppErrorMessage } from "../../../domain/procedures/app-error-message.ts";

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
