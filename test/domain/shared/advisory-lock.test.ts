import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { acquireAdvisoryLock } from "../../../domain/shared/advisory-lock.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

test("a lock blocks other transactions that acquire the same name, until its transaction ends", async () => {
  const log: string[] = [];
  const lock = (name: string, work: () => Promise<void>) =>
    service()
      .service.parts.orm.em.fork()
      .transactional(async (em) => {
        await acquireAdvisoryLock(queryBuilderOf(em), name);
        log.push(name);
        await work();
      });
  const { em } = service().service.parts.orm;
  const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'";
  let second: Promise<void> | undefined;
  await lock("a", async () => {
    second = lock("a", async () => {});
    await expect.poll(() => em.fork().execute(waiting)).toHaveLength(1);
    await lock("b", async () => {});
    log.push("end of a");
  });
  await second;
  expect(log).toEqual(["a", "b", "end of a", "a"]);
});
