import { expect, test } from "vitest";
import { VersionedCache } from "../../../domain/shared/versioned-cache.ts";

/** What is read from: a reading sees it as it is when the reading is told to look, and ends right then. */
function source(state: string) {
  const looks: ((error?: Error) => void)[] = [];
  const seen = { state, readings: 0, looks };
  return Object.assign(seen, {
    version: () => Promise.resolve(seen.state),
    read: () => {
      seen.readings++;
      return new Promise<{ version: string; value: { of: string } }>((resolve, reject) => {
        const look = () => resolve({ version: seen.state, value: { of: seen.state } });
        looks.push((error) => (error ? reject(error) : look()));
      });
    },
  });
}

type Value = { of: string };
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

async function kept(values: VersionedCache<Value>, from: ReturnType<typeof source>): Promise<Value> {
  const asked = values.of("key", from);
  await settled();
  from.looks.shift()?.();
  return asked;
}

test("a value is read once, and the same object, for all who ask while its version stays", async () => {
  const [values, from] = [new VersionedCache<Value>(2), source("one")];
  const asked = [values.of("key", from), values.of("key", from)];
  await settled();
  from.looks.shift()?.();
  const [first, second] = await Promise.all(asked);
  expect(second).toBe(first);
  expect(await values.of("key", from)).toBe(first);
  expect(from.readings).toBe(1);
});

test("another version is read anew, once for all who wait for it", async () => {
  const [values, from] = [new VersionedCache<Value>(2), source("one")];
  await kept(values, from);
  from.state = "two";
  const asked = [values.of("key", from), values.of("key", from)];
  await settled();
  from.looks.shift()?.();
  expect(await Promise.all(asked)).toEqual([{ of: "two" }, { of: "two" }]);
  expect(from.readings).toBe(2);
});

test("a reading that came upon what was there for a moment only is handed to nobody who asked later", async () => {
  const [values, from] = [new VersionedCache<Value>(2), source("one")];
  const first = values.of("key", from);
  from.state = "for a moment";
  from.looks.shift()?.();
  from.state = "one";
  const later = values.of("key", from);
  await settled();
  from.looks.shift()?.();
  expect([await first, await later]).toEqual([{ of: "for a moment" }, { of: "one" }]);
});

test("a reading that fails is not kept", async () => {
  const [values, from] = [new VersionedCache<Value>(2), source("one")];
  const asked = values.of("key", from);
  from.looks.shift()?.(new Error("out of reach"));
  await expect(asked).rejects.toThrow("out of reach");
  expect(await kept(values, from)).toEqual({ of: "one" });
});

test("no more values are kept than the limit", async () => {
  const [values, from] = [new VersionedCache<Value>(2), source("one")];
  const read = async (key: string) => {
    const asked = values.of(key, from);
    await settled();
    from.looks.shift()?.();
    await asked;
    return from.readings;
  };
  expect([await read("a"), await read("b"), await read("c"), await read("c"), await read("a")]).toEqual([
    1, 2, 3, 3, 4,
  ]);
});
