import { setTimeout as delay } from "node:timers/promises";
import type { PgBoss } from "pg-boss";
import { describe, expect, test, vi } from "vitest";
import { openDatabase } from "../../server/database/open-database.ts";
import type { Orm } from "../../server/database/orm.ts";
import { openBoss, PgBossQueue } from "../../server/drivers/job-queue/pg-boss-queue.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { createTestDatabase } from "../support/service/databases.ts";
import { hazard, verifies } from "../support/verifies.ts";

interface Opened extends AsyncDisposable {
  orm: Orm;
  boss: PgBoss;
  queue: PgBossQueue;
  /** The ids of the deployments that a worker was given, in the order of its turns. */
  taken: string[];
  work(handle?: (deploymentId: string, turn: number) => Promise<void>): Promise<void>;
}

/** Retries are not announced, so somebody has to look for them. */
const POLLING = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };

async function open(): Promise<Opened> {
  await using stack = new AsyncDisposableStack();
  const { databaseUrl } = stack.use(await createTestDatabase());
  const log = createLogger("silent");
  const { orm } = stack.use(await openDatabase({ databaseUrl, dataDirectory: "" }, log));
  const boss = await openBoss(databaseUrl, log);
  stack.defer(() => boss.stop({ graceful: false, close: true }));
  const taken: string[] = [];
  const work: Opened["work"] = async (handle = () => Promise.resolve()) => {
    await boss.work<{ deploymentId: string }>("deployment", POLLING, async ([job]) => {
      if (job !== undefined) await handle(job.data.deploymentId, taken.push(job.data.deploymentId));
    });
  };
  const opened = stack.move();
  return { orm, boss, queue: new PgBossQueue(boss), taken, work, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const enqueue = ({ orm, queue }: Opened, deploymentId: string) =>
  orm.em.fork().transactional((em) => queue.enqueue(em, "deployment", { deploymentId }));

describe("the job queue", () => {
  verifies(hazard(42), "has a job exactly if the transaction that asked for it commits", async () => {
    await using opened = await open();
    await opened.work();
    const undone = opened.orm.em.fork().transactional(async (em) => {
      await opened.queue.enqueue(em, "deployment", { deploymentId: "undone" });
      throw new Error("roll back");
    });
    await expect(undone).rejects.toThrow("roll back");
    await enqueue(opened, "done");
    await vi.waitFor(() => expect(opened.taken).toEqual(["done"]), 10_000);
    await delay(1000);
    expect(opened.taken).toEqual(["done"]);
  });

  test("gives a job out again after its worker has failed, and not after it has finished", async () => {
    await using opened = await open();
    await opened.work((_deploymentId, turn) => (turn === 1 ? Promise.reject(new Error("not yet")) : Promise.resolve()));
    await enqueue(opened, "again");
    await vi.waitFor(() => expect(opened.taken).toEqual(["again", "again"]), 20_000);
  });

  test("keeps jobs that nobody works on", async () => {
    await using opened = await open();
    await enqueue(opened, "waiting");
    await delay(500);
    expect(await opened.queue.waiting("deployment")).toEqual([{ deploymentId: "waiting" }]);
    expect(await opened.queue.waiting("teardown")).toEqual([]);
    await opened.work();
    await vi.waitFor(() => expect(opened.taken).toEqual(["waiting"]), 10_000);
    await vi.waitFor(async () => expect(await opened.queue.waiting("deployment")).toEqual([]), 10_000);
  });
});
