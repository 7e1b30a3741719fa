import { expect, test } from "vitest";
import { literalsToType } from "../../../domain/type-declarations/literal-type.ts";

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
