import { expect, test } from "vitest";
import {
  formatBlock,
  formatPropertyAccess,
  formatPropertyName,
  formatValue,
  quote,
} from "../../../domain/type-declarations/typescript-syntax.ts";

test("a quoted text is safe in a comment and shows every invisible character", () => {
  expect(quote('a "b"\n */')).toBe(String.raw`"a \"b\"\n *\/"`);
  expect(quote("Zürich 🗝")).toBe('"Zürich 🗝"');
  expect(quote("\u007f\u00ad\u202e\u{e0041}")).toBe(String.raw`"\u007f\u00ad\u202e\udb40\udc41"`);
});

test("a property whose name is not an identifier is quoted", () => {
  for (const name of ["a", "$_1", "Id", "constructor"])
    expect([formatPropertyName(name), formatPropertyAccess(name)]).toEqual([name, `.${name}`]);
  for (const name of ["1a", "a-b", "a b", "", "ü"])
    expect([formatPropertyName(name), formatPropertyAccess(name)]).toEqual([`"${name}"`, `["${name}"]`]);
  expect([formatPropertyName("new"), formatPropertyAccess("new")]).toEqual(['"new"', ".new"]);
});

test("a JSON value is an expression that evaluates to it", () => {
  expect(formatValue("a\u2028")).toBe(String.raw`"a\u2028"`);
  expect(formatValue([1, null, true, "x", []])).toBe('[1, null, true, "x", []]');
  expect(formatValue({ a: { "b-c": 1 }, d: {} })).toBe('{ a: { "b-c": 1 }, d: {} }');
  expect(formatValue(JSON.parse('{ "__proto__": 1 }'))).toBe('{ ["__proto__"]: 1 }');
});

test("a block is on one line if it has at most 100 characters and no line breaks, or if one line is requested", () => {
  const [first, second] = ["a".repeat(50), "b".repeat(44)];
  expect(formatBlock([])).toBe("{}");
  expect(formatBlock([first, second])).toBe(`{ ${first}; ${second} }`);
  expect(formatBlock([first, `${second}b`])).toBe(`{\n  ${first};\n  ${second}b;\n}`);
  expect(formatBlock([first, `${second}b`], true)).toBe(`{ ${first}; ${second}b }`);
  expect(formatBlock(["a: {\n  b;\n}", "c"])).toBe("{\n  a: {\n    b;\n  };\n  c;\n}");
});
