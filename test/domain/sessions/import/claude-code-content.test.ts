import { expect, test } from "vitest";
import { describeEvent } from "../../../../domain/sessions/import/claude-code/claude-code-reader.ts";
import { readContent } from "../../../../domain/sessions/import/claude-code/content-blocks.ts";

test("a message has one text, or a list of blocks", () => {
  expect(readContent("Hello")).toEqual([{ type: "text", text: "Hello" }]);
  expect(readContent(" \n")).toEqual([{ type: "empty" }]);
  for (const content of [undefined, null, 7, {}]) expect(readContent(content)).toEqual([]);
});

test("thinking is marked, and thinking without a visible text is empty", () => {
  const blocks = [
    { type: "thinking", thinking: "I count." },
    { type: "thinking", thinking: "" },
    { type: "thinking" },
    { type: "redacted_thinking", data: "gAAA" },
    { type: "text", text: 7 },
  ];
  expect(readContent(blocks)).toEqual([
    { type: "text", text: "[thinking]\nI count." },
    ...Array.from({ length: 4 }, () => ({ type: "empty" })),
  ]);
});

test("media are named with their type, of which the first 100 characters are kept", () => {
  const blocks = [
    { type: "image", source: { media_type: "image/png" } },
    { type: "document", source: { media_type: `application/${"x".repeat(100)}` } },
    { type: "image", source: { media_type: 7 } },
    { type: "image", source: "x" },
    { type: "document" },
  ];
  expect(readContent(blocks)).toEqual(
    ["[image: image/png]", `[document: application/${"x".repeat(88)}]`, "[image]", "[image]", "[document]"].map(
      (text) => ({ type: "text", text }),
    ),
  );
});

test("a call has its input as JSON, and one without an input has an empty object", () => {
  expect(
    readContent([
      { type: "tool_use", id: "c1", name: "Bash", input: { command: "ls" } },
      { type: "mcp_tool_use", id: "c2", name: "list" },
    ]),
  ).toEqual([
    { type: "call", name: "Bash", callId: "c1", text: '{"command":"ls"}' },
    { type: "call", name: "list", callId: "c2", text: "{}" },
  ]);
});

test("a result has the texts of its parts, and other parts as JSON", () => {
  const result = (content: unknown, fields: object = {}) =>
    readContent([{ type: "tool_result", tool_use_id: "c1", content, ...fields }]);
  const expected = { type: "result", callId: "c1", isError: undefined };
  const parts = [{ type: "text", text: "One" }, { type: "text", text: "" }, { type: "image" }, { type: "new" }, 7];
  expect(result(parts)).toEqual([{ ...expected, text: 'One\n\n[image]\n{"type":"new"}\n7' }]);
  expect(result(" Two\n")).toEqual([{ ...expected, text: " Two\n" }]);
  expect(result({ error: 1 })).toEqual([{ ...expected, text: '{"error":1}' }]);
  for (const content of [undefined, null, ""]) expect(result(content)).toEqual([{ ...expected, text: "" }]);
});

test("a result is an error only if it says so", () => {
  const flags = [true, false, undefined, "true", 1];
  const blocks = flags.map((flag) => ({ type: "web_search_tool_result", tool_use_id: "c1", is_error: flag }));
  expect(readContent(blocks)).toMatchObject([true, false, ...Array(3).fill(undefined)].map((isError) => ({ isError })));
});

test("blocks of other kinds are unknown, with the name of their kind", () => {
  expect(readContent([{ type: "tool_user" }, { type: 7 }, "text", null])).toEqual([
    { type: "unknown", kind: "tool_user" },
    { type: "unknown", kind: undefined },
    { type: "unknown", kind: undefined },
    { type: "unknown", kind: undefined },
  ]);
});

test("an error of the API is described by its formatted text, else by its message", () => {
  const described = (error: unknown) => describeEvent({ type: "system", subtype: "api_error", error });
  const expected = (content: string) => ({ role: "system", content });
  expect(described({ formatted: "529 Overloaded", message: "other" })).toEqual(expected("API error: 529 Overloaded"));
  expect(described({ message: "Timeout" })).toEqual(expected("API error: Timeout"));
  for (const error of [undefined, "text", {}, { message: 7 }]) expect(described(error)).toEqual(expected("API error"));
});

test("records that say nothing in the conversation are not events", () => {
  const prompt = "Go on.";
  for (const record of [
    { type: "system", content: " " },
    { type: "system", content: ["text"] },
    { type: "system", subtype: "turn_duration" },
    { type: "progress", content: "text" },
    { type: "progress", subtype: "api_error" },
    { type: "attachment", attachment: { type: "file", prompt } },
    { type: "attachment", attachment: "queued_command" },
    { type: "progress", attachment: { type: "queued_command", prompt } },
  ])
    expect(describeEvent(record)).toBeNull();
});
