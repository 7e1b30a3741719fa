import { expect, test } from "vitest";
import { RateLimited } from "../../domain/shared/errors.ts";
import { MetadataFetchLimiter } from "../../server/identity/metadata-fetch-limiter.ts";

const refused = expect.any(RateLimited) as RateLimited;

/** One from a network of its own. What goes wrong with it is final when it says so. */
function visitTo(url: string, network = url) {
  return { url, network, isFinal: (error: unknown) => (error as Error).message === "final" };
}

test("only so many documents are read at once, and the next one when one of them has been", async () => {
  const visits = new MetadataFetchLimiter<string>();
  const { promise, resolve } = Promise.withResolvers<string>();
  const underway = Array.from({ length: 16 }, (_, at) =>
    visits.visit(visitTo(`https://${at}.example/x`), () => promise),
  );
  const next = visitTo("https://next.example/x");
  await expect(visits.visit(next, () => promise)).rejects.toEqual(refused);
  // Whoever wants one of these waits with those who want it already.
  const shared = visits.visit(visitTo("https://0.example/x"), () => Promise.reject(new Error("not shared")));
  resolve("read");
  expect(new Set(await Promise.all([...underway, shared]))).toEqual(new Set(["read"]));
  expect(await visits.visit(next, () => promise)).toBe("read");
});

test("one host is asked only so often, however many ask, and so is any for one network", async () => {
  const visits = new MetadataFetchLimiter<number>();
  for (let at = 0; at < 60; at++) await visits.visit(visitTo(`https://host.example/${at}`), () => Promise.resolve(at));
  await expect(visits.visit(visitTo("https://host.example:8443/x"), () => Promise.resolve(0))).rejects.toEqual(refused);
  for (let at = 0; at < 60; at++)
    await visits.visit(visitTo(`https://${at}.example/x`, "network"), () => Promise.resolve(at));
  const more = () => Promise.resolve(0);
  await expect(visits.visit(visitTo("https://more.example/x", "network"), more)).rejects.toEqual(refused);
  expect(await visits.visit(visitTo("https://more.example/x"), more)).toBe(0);
});

test("what is the document's own fault is not tried again at once, and a fault of ours is", async () => {
  const visits = new MetadataFetchLimiter<string>();
  const visit = visitTo("https://client.example/x");
  await expect(visits.visit(visit, () => Promise.reject(new Error("ours")))).rejects.toThrow("ours");
  await expect(visits.visit(visit, () => Promise.reject(new Error("final")))).rejects.toThrow("final");
  await expect(visits.visit(visit, () => Promise.resolve("read"))).rejects.toEqual(refused);
  expect(await visits.visit(visitTo("https://client.example/y"), () => Promise.resolve("read"))).toBe("read");
});
