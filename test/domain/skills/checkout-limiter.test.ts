import { expect, test } from "vitest";
import { CheckoutLimiter } from "../../../domain/skills/checkout-limiter.ts";

/** Work that ends when `end` is called. */
function givenWork() {
  const { promise, resolve: end } = Promise.withResolvers<string>();
  return { work: () => promise, end: () => end("done") };
}

test("an organization reads one repository at a time, and the process two", async () => {
  const limiter = new CheckoutLimiter();
  const [first, second] = [givenWork(), givenWork()];
  const running = [limiter.run("org-1", first.work), limiter.run("org-2", second.work)];
  const again = () => Promise.resolve("again");
  await expect(limiter.run("org-1", again)).rejects.toMatchObject({ code: "conflict" });
  await expect(limiter.run("org-3", again)).rejects.toMatchObject({ code: "unavailable" });
  first.end();
  await running[0];
  expect(await limiter.run("org-3", again)).toBe("again");
  expect(await limiter.run("org-1", again)).toBe("again");
  second.end();
  expect(await Promise.all(running)).toEqual(["done", "done"]);
});

test("an organization can read a repository again after an error", async () => {
  const limiter = new CheckoutLimiter();
  const failure = new Error("no such repository");
  await expect(limiter.run("org-1", () => Promise.reject(failure))).rejects.toBe(failure);
  expect(await limiter.run("org-1", () => Promise.resolve("read"))).toBe("read");
});
