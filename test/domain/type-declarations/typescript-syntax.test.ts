import { expect, test } from "vitest";
import { literalsToType } from "../../../domain/type-declarations/literal-type.ts";
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

const toType = (...values: unknown[]) => literalsToType(values).text;

test("up to 40 values are shown, and of more values only their kinds", () => {
  const numbers = Array.from({ length: 40 }, (_, n) => n);
  expect(toType(...numbers)).toBe(numbers.join(" | "));
  expect(toType(...numbers, 40)).toBe("number");
  expect(toType(...numbers, "a", null, true, false)).toBe("number | string | null | boolean");
  expect(toType(...numbers, { a: 1 })).toBe("unknown");
});

test("a text is shown up to 200 characters", () => {
  expect(toType("x".repeat(200))).toBe(`"${"x".repeat(200)}"`);
  expect(toType("x".repeat(201), 1)).toBe("string | 1");
});

test("a list or an object is shown up to 8 members, names of 200 characters and 3 levels", () => {
  expect(toType([1, 2, 3, 4, 5, 6, 7, 8])).toBe("[1, 2, 3, 4, 5, 6, 7, 8]");
  expect(toType([1, 2, 3, 4, 5, 6, 7, 8, 9])).toBe("unknown");
  expect(toType({ ["x".repeat(200)]: 1 })).toBe(`{ ${"x".repeat(200)}: 1 }`);
  expect(toType({ a: 1, ["x".repeat(201)]: 1 })).toBe("unknown");
  expect(toType([[[1]]])).toBe("[[[1]]]");
  expect(toType([[[[1]]]])).toBe("[[[unknown]]]");
  expect(toType({ a: { b: { c: 1 } } })).toBe("{ a: { b: { c: 1 } } }");
  expect(toType({ a: { b: { c: { d: 1 } } } })).toBe("{ a: { b: { c: unknown } } }");
});

test("an object is shown on one line", () => {
  expect(toType({ a: "x".repeat(90), b: "y".repeat(90) })).toBe(`{ a: "${"x".repeat(90)}"; b: "${"y".repeat(90)}" }`);
});
