import { expect, test } from "vitest";
import { parse, stringify } from "../../../server/drivers/code-runtime/inside/typed-json.ts";

test("JSON without other types is written as it is", () => {
  const value = { a: [1, "two", null, true], b: { c: {} } };
  expect(stringify(value)).toBe(JSON.stringify(value));
  expect(parse(stringify(value))).toEqual(value);
});

test("an invalid date stays one", () => {
  expect(String(parse(stringify(new Date(Number.NaN))))).toBe("Invalid Date");
});

test.each([
  ["a bigint that is no number", '{"$type":"bigint","value":"7x"}'],
  ["a bigint of a million digits", `{"$type":"bigint","value":"${"7".repeat(1_000_000)}"}`],
  ["a set that is no list", '{"$type":"Set","value":{}}'],
  ["a map without pairs", '{"$type":"Map","value":[[1]]}'],
  ["an unknown type", '{"$type":"Function","value":"process"}'],
  ["a type that is no text", '{"$type":{"a":1},"value":[[1,2]]}'],
])("%s, which only a forged message contains, stays as it is", (_what, text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
});

test("a forged object cannot replace a prototype", () => {
  const value = parse('{"$type":"Object","value":[["__proto__",{"admin":true}]]}') as { admin?: boolean };
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(value.admin).toBeUndefined();
});
