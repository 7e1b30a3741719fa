import fc from "fast-check";
import { expect, test } from "vitest";
import { editDistance } from "../../../domain/search/edit-distance.ts";

test.each([
  ["invoice", "invoice", 0],
  ["invoice", "invoce", 1],
  ["invoice", "invoicee", 1],
  ["invoice", "imvoice", 1],
  ["invoice", "invioce", 1],
  ["invoice", "ivnoiec", 2],
  ["", "ab", 2],
  ["ab", "ba", 1],
  ["ab", "xa", 2],
  ["ab", "bx", 2],
  ["𐌲𐌿", "𐌲", 1],
])("%s and %s differ in %i letters", (first, second, distance) => {
  expect(editDistance(first, second, 2)).toBe(distance);
  expect(editDistance(second, first, 2)).toBe(distance);
});

test("words that differ in more letters than allowed have a distance above the limit", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (first, second) => {
      const exact = editDistance(first, second, 100);
      for (const max of [0, 1, 2])
        expect(Math.min(editDistance(first, second, max), max + 1)).toBe(Math.min(exact, max + 1));
    }),
  );
});
