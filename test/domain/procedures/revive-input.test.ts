import { expect, test } from "vitest";
import { reviveInput } from "../../../domain/procedures/revive-input.ts";

const DATE = { type: "string", format: "date-time", "x-js-type": "Date" };
const BIGINT = { type: "string", "x-js-type": "bigint" };
const object = (properties: Record<string, unknown>) => ({ type: "object", properties });

test("texts become dates and bigints, and lists sets and maps, where the schema says so", () => {
  const pair = { type: "array", prefixItems: [{ type: "string" }, DATE] };
  const schema = object({
    at: DATE,
    big: BIGINT,
    set: { type: "array", items: DATE, "x-js-type": "Set" },
    map: { type: "array", items: pair, "x-js-type": "Map" },
    list: { type: "array", items: object({ at: DATE }) },
    named: { type: "object", additionalProperties: DATE },
    text: { type: "string", format: "date-time" },
  });
  const at = "2026-12-24T12:00:00.000Z";
  const date = new Date(at);
  const input = { at, big: "-7", set: [at], map: [["a", at]], list: [{ at }], named: { x: at }, text: at, more: at };
  expect(reviveInput(input, schema)).toEqual({
    at: date,
    big: -7n,
    set: new Set([date]),
    map: new Map([["a", date]]),
    list: [{ at: date }],
    named: { x: date },
    text: at,
    more: at,
  });
  expect(reviveInput({ map: { a: at } }, schema)).toEqual({ map: new Map([["a", at]]) });
});

test("alternatives and references are followed, and a text that an alternative accepts stays", () => {
  const schema = {
    ...object({
      optional: { anyOf: [DATE, { type: "null" }] },
      either: { anyOf: [DATE, { type: "string" }] },
      constant: { anyOf: [DATE, { const: "2026" }] },
      referenced: { $ref: "#/$defs/when" },
    }),
    $defs: { when: DATE },
  };
  const input = { optional: "2026-01-01", either: "2026-01-01", constant: "2026", referenced: "2026-01-01" };
  expect(reviveInput(input, schema)).toEqual({
    ...input,
    optional: new Date("2026-01-01"),
    referenced: new Date("2026-01-01"),
  });
  expect(reviveInput({ optional: null }, schema)).toEqual({ optional: null });
});

test("what does not fit stays as it is, and so do values that have the type already", () => {
  const schema = object({ at: DATE, big: BIGINT, set: { type: "array", items: DATE, "x-js-type": "Set" } });
  const input = { at: "tomorrow", big: "7.5", set: "none" };
  expect(reviveInput(input, schema)).toEqual(input);
  const typed = { at: new Date(5), big: 7n, set: new Set([new Date(5)]) };
  expect(reviveInput(typed, schema)).toEqual(typed);
  expect(reviveInput("text", schema)).toBe("text");
});

test("a schema that contains itself, and an input that is nested deeply, end", () => {
  const schema = { $ref: "#", allOf: [{ $ref: "#" }], properties: { a: { $ref: "#" }, at: DATE } };
  let input: unknown = { at: "2026-01-01" };
  for (let depth = 0; depth < 10_000; depth++) input = { a: input };
  expect(() => reviveInput(input, schema)).not.toThrow();
});
