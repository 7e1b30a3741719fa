import { expect, test } from "vitest";
import { RefreshLock } from "../../server/identity/refresh-lock.ts";
import { sharedDatabase } from "../support/database/shared-database.ts";
import { waitFor } from "../support/time-limits.ts";

const orm = sharedDatabase();
const MAX_CONCURRENT_REFRESHES = 3;

/** Waits until the database has handled everything that was sent to it before. */
async function settle(): Promise<void> {
  for (let at = 0; at < 5; at += 1) await orm().em.fork().execute("select 1");
}

test("refreshes with one token run one after the other, in every process, and others at the same time", async () => {
  const [one, other] = [new RefreshLock(orm()), new RefreshLock(orm())];
  const first = Promise.withResolvers<string>();
  const started: string[] = [];
  const start = (name: string, end: Promise<string> | string = name) => {
    started.push(name);
    return Promise.resolve(end);
  };
  const results = [one.run("token", () => start("first", first.promise))];
  await waitFor(() => expect(started).toEqual(["first"]));
  results.push(other.run("token", () => start("in another process")));
  results.push(one.run("token", () => start("in the same process")));
  const unrelated = new RefreshLock(orm());
  expect(await unrelated.run("another token", () => start("another token"))).toBe("another token");
  await settle();
  expect(started).toEqual(["first", "another token"]);
  first.resolve("the response");
  expect(await Promise.all(results)).toEqual(["the response", "in another process", "in the same process"]);
});

test("one process runs at most three refreshes at once", async () => {
  const lock = new RefreshLock(orm());
  const release = Promise.withResolvers<void>();
  let running = 0;
  const refreshes = Array.from({ length: 12 }, (_, at) =>
    lock.run(`token ${at}`, async () => {
      running += 1;
      await release.promise;
    }),
  );
  await waitFor(() => expect(running).toBe(MAX_CONCURRENT_REFRESHES));
  await settle();
  expect(running).toBe(MAX_CONCURRENT_REFRESHES);
  release.resolve();
  await Promise.all(refreshes);
  expect(running).toBe(refreshes.length);
});

test("a refresh that fails does not keep the lock", async () => {
  const lock = new RefreshLock(orm());
  await expect(lock.run("failing", () => Promise.reject(new Error("the refresh failed")))).rejects.toThrow("failed");
  expect(await lock.run("failing", () => Promise.resolve("done"))).toBe("done");
});
