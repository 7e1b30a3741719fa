import { expect, test } from "vitest";
import { cosineOf, encodeVector, signsOf } from "../../../domain/search/vectors.ts";

test("a vector is stored as numbers of four bytes, the lowest byte first", () => {
  expect(encodeVector(Float32Array.of(1, -0.5, 0)).toString("hex")).toBe("0000803f000000bf00000000");
});

test("the cosine of a stored vector is read from its place in a larger buffer", () => {
  const stored = encodeVector(Float32Array.of(0.6, -0.8));
  const part = Buffer.concat([Buffer.alloc(3, 7), stored, Buffer.alloc(5, 7)]).subarray(3, 11);
  expect(cosineOf(Float32Array.of(0.6, -0.8), part)).toBeCloseTo(1, 6);
  expect(cosineOf(Float32Array.of(0.8, 0.6), part)).toBeCloseTo(0, 6);
  expect(cosineOf(Float32Array.of(-0.6, 0.8), part)).toBeCloseTo(-1, 6);
});

test("the signs of a vector are 1 for each positive number", () => {
  expect(signsOf(Float32Array.of(0.1, -0.1, 0, 5))).toBe("1001");
});
