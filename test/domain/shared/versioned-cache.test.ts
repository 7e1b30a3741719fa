import { expect, test } from "vitest";
import { VersionedCache } from "../../../domain/shared/versioned-cache.ts";

interface Value {
  state: string;
}

/** A source whose reads stay pending until the test calls `finishRead`. A read returns the state at that moment. */
function createSource(state: string) {
  const pending: ((error?: Error) => void)[] = [];
  const source = {
    state,
    reads: 0,
    readVersion: () => Promise.resolve(source.state),
    read() {
      source.reads++;
      return new Promise<{ version: string; value: Value }>((resolve, reject) => {
        pending.push((error) => {
          if (error !== undefined) reject(error);
          else resolve({ version: source.state, value: { state: source.state } });
        });
      });
    },
    finishRead: (error?: Error) => pending.shift()?.(error),
  };
  return source;
}

const pendingWork = () => new Promise((resolve) => setTimeout(resolve, 5));

const createCache = () => new VersionedCache<Value>({ maxEntries: 2 });

async function getAfterRead(cache: VersionedCache<Value>, source: ReturnType<typeof createSource>, key = "key") {
  const value = cache.get(key, source);
  await pendingWork();
  source.finishRead();
  return value;
}

test("a value is read once and is the same object for all callers while its version is unchanged", async () => {
  const cache = createCache();
  const source = createSource("one");
  const concurrent = [cache.get("key", source), cache.get("key", source)];
  await pendingWork();
  source.finishRead();
  const [first, second] = await Promise.all(concurrent);
  expect(second).toBe(first);
  expect(await cache.get("key", source)).toBe(first);
  expect(source.reads).toBe(1);
});

test("a changed version causes one new read for all concurrent callers", async () => {
  const cache = createCache();
  const source = createSource("one");
  await getAfterRead(cache, source);
  source.state = "two";
  const concurrent = [cache.get("key", source), cache.get("key", source)];
  await pendingWork();
  source.finishRead();
  expect(await Promise.all(concurrent)).toEqual([{ state: "two" }, { state: "two" }]);
  expect(source.reads).toBe(2);
});

test("a value that was outdated again before a call began is not returned to that call", async () => {
  const cache = createCache();
  const source = createSource("one");
  const first = cache.get("key", source);
  source.state = "short-lived";
  source.finishRead();
  source.state = "one";
  const later = cache.get("key", source);
  await pendingWork();
  source.finishRead();
  expect([await first, await later]).toEqual([{ state: "short-lived" }, { state: "one" }]);
});

test("a failed read is not cached", async () => {
  const cache = createCache();
  const source = createSource("one");
  const failed = cache.get("key", source);
  source.finishRead(new Error("unavailable"));
  await expect(failed).rejects.toThrow("unavailable");
  expect(await getAfterRead(cache, source)).toEqual({ state: "one" });
});

test("the cache evicts the least recently used entry when it is full", async () => {
  const cache = createCache();
  const source = createSource("one");
  const reads: number[] = [];
  for (const key of ["a", "b", "a", "c", "a", "b"]) {
    await getAfterRead(cache, source, key);
    reads.push(source.reads);
  }
  expect(reads).toEqual([1, 2, 2, 3, 3, 4]);
});

test("an entry that is evicted during the check of its version is read again", async () => {
  const cache = createCache();
  const source = createSource("one");
  await getAfterRead(cache, source);
  source.state = "two";
  const value = cache.get("key", source);
  const others = ["a", "b"].map((key) => cache.get(key, source));
  await pendingWork();
  for (let n = 0; n < 3; n++) source.finishRead();
  const states = (await Promise.all([value, ...others])).map(({ state }) => state);
  expect(states).toEqual(["two", "two", "two"]);
});

test("a read that fails after its entry was evicted does not remove the entry of a later read", async () => {
  const cache = createCache();
  const [failing, source] = [createSource("one"), createSource("one")];
  const failed = cache.get("key", failing);
  for (const key of ["a", "b", "key"]) await getAfterRead(cache, source, key);
  failing.finishRead(new Error("unavailable"));
  await expect(failed).rejects.toThrow("unavailable");
  expect(await cache.get("key", source)).toEqual({ state: "one" });
  expect(source.reads).toBe(3);
});
