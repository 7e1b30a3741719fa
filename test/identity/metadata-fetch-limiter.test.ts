import { expect, test } from "vitest";
import { RateLimited } from "../../domain/shared/errors.ts";
import { MetadataFetchLimiter } from "../../server/identity/metadata-fetch-limiter.ts";

const rateLimited = expect.any(RateLimited) as RateLimited;

/** A fetch from a client network of its own. Its error is final when the message says so. */
function fetchOf(url: string, network = url) {
  return { url, network, isFinal: (error: unknown) => (error as Error).message === "final" };
}

test("at most 16 documents are fetched at once, and simultaneous requests for one URL share one fetch", async () => {
  const limiter = new MetadataFetchLimiter<string>();
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = Array.from({ length: 16 }, (_, at) => limiter.run(fetchOf(`https://${at}.example/x`), () => promise));
  const next = fetchOf("https://next.example/x");
  await expect(limiter.run(next, () => promise)).rejects.toEqual(rateLimited);
  const shared = limiter.run(fetchOf("https://0.example/x"), () => Promise.reject(new Error("not shared")));
  resolve("document");
  expect(new Set(await Promise.all([...running, shared]))).toEqual(new Set(["document"]));
  expect(await limiter.run(next, () => promise)).toBe("document");
});

test("fetches are limited per target host for all networks, and per client network for all hosts", async () => {
  const limiter = new MetadataFetchLimiter<number>();
  for (let at = 0; at < 60; at++) await limiter.run(fetchOf(`https://host.example/${at}`), () => Promise.resolve(at));
  await expect(limiter.run(fetchOf("https://host.example:8443/x"), () => Promise.resolve(0))).rejects.toEqual(
    rateLimited,
  );
  for (let at = 0; at < 60; at++)
    await limiter.run(fetchOf(`https://${at}.example/x`, "network"), () => Promise.resolve(at));
  const fetchMore = () => Promise.resolve(0);
  await expect(limiter.run(fetchOf("https://more.example/x", "network"), fetchMore)).rejects.toEqual(rateLimited);
  expect(await limiter.run(fetchOf("https://more.example/x"), fetchMore)).toBe(0);
});

test("an invalid document is not fetched again at once, and a document is after an internal error", async () => {
  const limiter = new MetadataFetchLimiter<string>();
  const fetch = fetchOf("https://client.example/x");
  await expect(limiter.run(fetch, () => Promise.reject(new Error("internal")))).rejects.toThrow("internal");
  await expect(limiter.run(fetch, () => Promise.reject(new Error("final")))).rejects.toThrow("final");
  await expect(limiter.run(fetch, () => Promise.resolve("document"))).rejects.toEqual(rateLimited);
  await expect(limiter.run(fetch, () => Promise.resolve("document"))).rejects.toMatchObject({
    retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds > 1 && seconds <= 10) as number,
  });
  expect(await limiter.run(fetchOf("https://client.example/y"), () => Promise.resolve("document"))).toBe("document");
});
