import { describe, expect, test } from "vitest";
import { DocumentSplitter } from "../../../../domain/sessions/import/document-splitter.ts";

function split(text: string, maxLength = 1000) {
  const splitter = new DocumentSplitter(maxLength);
  const values = text.split("\n").flatMap((line) => splitter.push(`${line}\n`));
  return { values, isComplete: splitter.isComplete };
}

const DOCUMENT = {
  info: { id: "ses_1", note: 'A brace }, a "quote" and a backslash \\' },
  messages: [
    { id: "m1", parts: [{ text: "],[{" }] },
    { id: "m2", parts: [], messages: [1] },
  ],
  summary: "Two lines\nof text",
};
const VALUES = [
  { value: { info: DOCUMENT.info } },
  { value: DOCUMENT.messages[0] },
  { value: DOCUMENT.messages[1] },
  { value: { summary: DOCUMENT.summary } },
];

describe("a JSON document", () => {
  test("is split into its fields and its messages, however it is indented", () => {
    for (const indent of [0, 1, 2, "\t"])
      expect(split(JSON.stringify(DOCUMENT, null, indent))).toEqual({ values: VALUES, isComplete: true });
  });

  test("without messages has only fields", () => {
    expect(split('{"a": 1, "b": []}')).toEqual({
      values: [{ value: { a: 1 } }, { value: { b: [] } }],
      isComplete: true,
    });
    expect(split('{"messages": []}')).toEqual({ values: [], isComplete: true });
    expect(split('{"messages": {"a": 1}}').values).toEqual([{ value: { messages: { a: 1 } } }]);
  });

  test("whose end is missing has the values before it", () => {
    const text = JSON.stringify(DOCUMENT, null, 2);
    for (let length = 1; length < text.length - 1; length++) {
      const { values, isComplete } = split(text.slice(0, length));
      expect(isComplete).toBe(false);
      expect(values).toEqual(VALUES.slice(0, values.length));
    }
  });

  test("has no values for parts that are too long, too complex or not objects", () => {
    const text = `{"messages": [{"text": "${"x".repeat(100)}"}, 7, ${"[".repeat(101)}${"]".repeat(101)}, {"id": "m4"}]}`;
    expect(split(text, 300).values).toEqual([
      { value: { messages: undefined, text: "x".repeat(100) } },
      { skipped: "not_an_object" },
      { skipped: "value_too_complex" },
      { value: { id: "m4" } },
    ]);
    expect(split(text, 90).values[0]).toEqual({ skipped: "value_too_long" });
  });

  test.each(['{"a": tru}', '{"a": 1} {"b": 2}', '{"messages": [{"id": 1} {"id": 2}]}', '{"a" 1}'])(
    "%s is not valid",
    (text) => {
      expect(split(text).values).toContainEqual({ invalid: true });
    },
  );
});
