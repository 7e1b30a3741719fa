import { afterEach, expect, test, vi } from "vitest";
import { TokenCache } from "../../../domain/tokens/token-cache.ts";

afterEach(() => vi.restoreAllMocks());

/** Counts the lookups of a cache. */
function createLoader(value: object | null) {
  const loader = {
    lookups: 0,
    load: async () => {
      loader.lookups += 1;
      return value;
    },
  };
  return loader;
}

test("a cached value is used for 5 s by the monotonic clock, however often it is read", async () => {
  const cache = new TokenCache<object>();
  const loader = createLoader({});
  const now = performance.now.bind(performance);
  let offsetMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + offsetMs);
  for (const at of [0, 2000, 4500]) {
    offsetMs = at;
    await cache.get("key", loader.load);
  }
  expect(loader.lookups).toBe(1);
  offsetMs = 5001;
  await cache.get("key", loader.load);
  expect(loader.lookups).toBe(2);
});

test("a full cache evicts the least recently used value and keeps the others", async () => {
  const cache = new TokenCache<object>();
  for (let at = 0; at < 10_000; at += 1) await cache.get(`key ${at}`, () => Promise.resolve({}));
  const recentlyUsed = createLoader({});
  await cache.get("key 0", recentlyUsed.load);
  await cache.get("one more", () => Promise.resolve({}));
  await cache.get("key 0", recentlyUsed.load);
  expect(recentlyUsed.lookups).toBe(0);
  const evicted = createLoader({});
  await cache.get("key 1", evicted.load);
  const kept = createLoader({});
  await cache.get("key 5000", kept.load);
  expect([evicted.lookups, kept.lookups]).toEqual([1, 0]);
});

test("a revocation invalidates every cached value at once", async () => {
  const cache = new TokenCache<object>();
  await cache.get("key", () => Promise.resolve({ outdated: true }));
  cache.clear();
  expect(await cache.get("key", () => Promise.resolve(null))).toBeNull();
  expect(await cache.get("key", () => Promise.resolve({ current: true }))).toEqual({ current: true });
  expect(await cache.get("key", () => Promise.resolve(null))).toEqual({ current: true });
});

test("the result of a lookup that began before a revocation is not stored", async () => {
  const cache = new TokenCache<object>();
  const { promise, resolve } = Promise.withResolvers<object>();
  const outdated = cache.get("key", () => promise);
  cache.clear();
  resolve({ outdated: true });
  expect(await outdated).toEqual({ outdated: true });
  expect(await cache.get("key", () => Promise.resolve({ current: true }))).toEqual({ current: true });
});

test("an unknown token is looked up each time, so that guesses do not fill the cache", async () => {
  const cache = new TokenCache<object>();
  const unknown = createLoader(null);
  for (let at = 0; at < 3; at += 1) expect(await cache.get("key", unknown.load)).toBeNull();
  expect(unknown.lookups).toBe(3);
});

test("a value that expires earlier is not used after its expiry, and an expired value is not stored", async () => {
  const cache = new TokenCache<object>();
  const now = performance.now.bind(performance);
  let offsetMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + offsetMs);
  const expiring = createLoader({});
  await cache.get("expiring", expiring.load, () => 1000);
  offsetMs = 1001;
  await cache.get("expiring", expiring.load, () => 0);
  await cache.get("expiring", expiring.load, () => 0);
  expect(expiring.lookups).toBe(3);
});
