import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect } from "vitest";
import type { Counter } from "../../domain/ports/counter.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** Two counters that share their counts, like those of two processes. */
export interface OpenCounters extends AsyncDisposable {
  pair: [Counter, Counter];
}

/** The tests run concurrently, because most of their time they wait for the end of a window. */
const CONCURRENT = { concurrent: true };

/**
 * The guarantees of every counter.
 *
 * @param hasServer - whether a server keeps the counts, on its own clock
 */
export function describeCounterContract(name: string, hasServer: boolean, open: () => Promise<OpenCounters>): void {
  const quota = (limit: number, windowSeconds: number) => ({ key: randomUUID(), limit, windowSeconds });

  describe(`counter: ${name}`, () => {
    verifies(
      "limits.deploy.rate",
      "a counter allows as many calls as its limit, and returns the number that remains",
      async () => {
        await using opened = await open();
        const [counter] = opened.pair;
        const deploys = quota(3, 60);
        const results = [];
        for (let n = 0; n < 4; n++) results.push(await counter.consume(deploys));
        expect(results.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
          [true, 2],
          [true, 1],
          [true, 0],
          [false, 0],
        ]);
        for (const { resetSeconds } of results)
          expect(Number.isInteger(resetSeconds) && resetSeconds >= 1 && resetSeconds <= 60).toBe(true);
      },
    );

    verifies(hazard(35), "the count is exact under parallel calls from two processes", async () => {
      await using opened = await open();
      const deploys = quota(5, 60);
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, n) => opened.pair[n % 2 === 0 ? 0 : 1].consume(deploys)),
      );
      expect(results.filter(({ allowed }) => allowed).length).toBe(5);
    });

    verifies(
      ["limits.deploy.retry_after", hazard(34)],
      "the next call is allowed after the number of seconds that the rejected call returned",
      async () => {
        await using opened = await open();
        const [counter] = opened.pair;
        const deploys = quota(2, 2);
        for (let round = 0; round < 3; round++) {
          let result = await counter.consume(deploys);
          for (; result.allowed; result = await counter.consume(deploys)) await delay(300);
          await delay(result.resetSeconds * 1000);
          expect((await counter.consume(deploys)).allowed).toBe(true);
        }
      },
      CONCURRENT,
    );

    verifies(
      "limits.deploy.retry_after",
      "rejected calls are not counted, so repeating them does not extend the wait",
      async () => {
        await using opened = await open();
        const [counter] = opened.pair;
        const deploys = quota(1, 2);
        await counter.consume(deploys);
        for (let n = 0; n < 10; n++) expect((await counter.consume(deploys)).allowed).toBe(false);
        await delay(2000);
        expect((await counter.consume(deploys)).allowed).toBe(true);
      },
      CONCURRENT,
    );

    verifies(hazard(36), "the count remains when the process that counted has ended", async () => {
      await using opened = await open();
      const deploys = quota(2, 60);
      await opened.pair[0].consume(deploys);
      expect(await opened.pair[1].consume(deploys)).toMatchObject({ allowed: true, remaining: 0 });
      expect((await opened.pair[1].consume(deploys)).allowed).toBe(false);
    });

    if (hasServer)
      verifies(hazard(36), "a process whose clock jumps by an hour gets the same count", async () => {
        await using opened = await open();
        const deploys = quota(1, 60);
        await opened.pair[0].consume(deploys);
        const now = Date.now;
        try {
          Date.now = () => now() + 3_600_000;
          expect((await opened.pair[1].consume(deploys)).allowed).toBe(false);
          Date.now = () => now() - 3_600_000;
          expect((await opened.pair[1].consume(deploys)).allowed).toBe(false);
        } finally {
          Date.now = now;
        }
      });

    verifies("limits.deploy.rate", "peek returns the count without changing it", async () => {
      await using opened = await open();
      const [counter] = opened.pair;
      const deploys = quota(1, 60);
      expect(await counter.peek(deploys)).toEqual({ allowed: true, remaining: 1, resetSeconds: 0 });
      await counter.consume(deploys);
      expect(await counter.peek(deploys)).toEqual({ allowed: false, remaining: 0, resetSeconds: expect.any(Number) });
    });
  });
}
