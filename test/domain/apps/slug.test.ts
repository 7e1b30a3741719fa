import { expect, test } from "vitest";
import { slugFor } from "../../../domain/apps/slug.ts";

test("a slug is the name as a DNS label and a random suffix", () => {
  for (const [name, label] of [
    ["shop", "shop"],
    ["My_Shop.v2", "my-shop-v2"],
    ["--a__b--", "a-b"],
    ["...", "app"],
    ["日本", "app"],
    ["x".repeat(100), "x".repeat(56)],
    [`${"x".repeat(55)}-y`, "x".repeat(55)],
  ] as const) {
    const slug = slugFor(name);
    expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*-[2-9b-df-hj-km-np-tv-xz]{6}$/);
    expect([slug.slice(0, -7), slug.length <= 63]).toEqual([label, true]);
  }
});

test("every slug has another suffix, of all the characters of the alphabet", () => {
  const suffixes = Array.from({ length: 1000 }, () => slugFor("a").slice(2));
  expect(new Set(suffixes).size).toBeGreaterThan(990);
  expect(new Set(suffixes.join("")).size).toBe(27);
});
