import { setTimeout as delay } from "node:timers/promises";
import type { PgBoss } from "pg-boss";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../server/database/open-database.ts";
import type { Orm } from "../../server/database/orm.ts";
import { openBoss, PgBossQueue } from "../../server/drivers/job-queue/pg-boss-queue.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { createTestDatabase } from "../support/service/test-databases.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

interface OpenQueue extends AsyncDisposable {
  orm: Orm;
  boss: PgBoss;
  queue: PgBossQueue;
  /** The deployments whose job a worker received, in order; an id appears again when its job was repeated. */
  received: string[];
  /** Starts a worker. `handle` gets the number of jobs received so far. */
  startWorker(handle?: (deploymentId: string, count: number) => Promise<void>): Promise<void>;
}

/** PostgreSQL announces new jobs only, so the worker finds repeated ones by polling. */
const POLLING = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };

async function open(): Promise<OpenQueue> {
  await using stack = new AsyncDisposableStack();
  const { databaseUrl } = stack.use(await createTestDatabase());
  const log = createLogger("silent");
  const { orm } = stack.use(await openDatabase({ databaseUrl, dataDirectory: "" }, log));
  const boss = await openBoss(databaseUrl, log);
  stack.defer(() => boss.stop({ graceful: false, close: true }));
  const received: string[] = [];
  const startWorker: OpenQueue["startWorker"] = async (handle = () => Promise.resolve()) => {
    await boss.work<{ deploymentId: string }>("deployment", POLLING, async ([job]) => {
      if (job !== undefined) await handle(job.data.deploymentId, received.push(job.data.deploymentId));
    });
  };
  const queue = new PgBossQueue(boss);
  const opened = stack.move();
  return { orm, boss, queue, received, startWorker, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const enqueue = ({ orm, queue }: OpenQueue, deploymentId: string, orgId = "organization") =>
  orm.em.fork().transactional((em) => queue.enqueue(em, "deployment", { deploymentId, orgId }));

describe("the job queue", () => {
  verifies(hazard(42), "a job exists only if the transaction that enqueued it commits", async () => {
    await using opened = await open();
    await opened.startWorker();
    const rolledBack = opened.orm.em.fork().transactional(async (em) => {
      await opened.queue.enqueue(em, "deployment", { deploymentId: "rolled back", orgId: "organization" });
      throw new Error("roll back");
    });
    await expect(rolledBack).rejects.toThrow("roll back");
    await enqueue(opened, "committed");
    await waitFor(() => expect(opened.received).toEqual(["committed"]));
    await delay(1000);
    expect(opened.received).toEqual(["committed"]);
  });

  test("a job is repeated after its worker failed, and not after it succeeded", async () => {
    await using opened = await open();
    await opened.startWorker((_id, count) => (count === 1 ? Promise.reject(new Error("not yet")) : Promise.resolve()));
    await enqueue(opened, "repeated");
    await waitFor(() => expect(opened.received).toEqual(["repeated", "repeated"]));
  });

  test("a job waits until a worker starts", async () => {
    await using opened = await open();
    await enqueue(opened, "waiting");
    await delay(500);
    expect(await opened.queue.listWaiting("deployment")).toEqual([{ deploymentId: "waiting", orgId: "organization" }]);
    expect(await opened.queue.listWaiting("teardown")).toEqual([]);
    await opened.startWorker();
    await waitFor(() => expect(opened.received).toEqual(["waiting"]));
    await waitFor(async () => expect(await opened.queue.listWaiting("deployment")).toEqual([]));
  });

  test("the first job of an organization runs before the further ones of others, and no job waits forever", async () => {
    await using opened = await open();
    const { boss } = opened;
    const start = async () => (await boss.fetch<{ deploymentId: string }>("deployment"))[0];
    const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
    for (const name of names("a", 50)) await enqueue(opened, name, "a");
    const running = [await start(), await start(), await start(), await start()];
    expect(running.map((job) => job?.data.deploymentId)).toEqual(names("a", 4));
    for (const name of names("b", 3)) await enqueue(opened, name, "b");
    await enqueue(opened, "c0", "c");
    const next = [];
    for (let job = await start(); next.length < 8 && job !== undefined; job = await start()) {
      next.push(job.data.deploymentId);
      await boss.complete("deployment", job.id);
    }
    expect(next).toEqual(["b0", "c0", "a4", "b1", "a5", "b2", "a6", "a7"]);
    // Organization d comes late, and organization a, which waits for the longest time, still has its turn.
    for (const name of names("d", 20)) await enqueue(opened, name, "d");
    const last = [(await start())?.data.deploymentId, (await start())?.data.deploymentId];
    expect(last.map((name) => name?.[0]).toSorted()).toEqual(["a", "d"]);
  });
});
