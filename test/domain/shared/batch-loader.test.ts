import { expect, test } from "vitest";
import { BatchLoader } from "../../../domain/shared/batch-loader.ts";

/** A source whose readings end when they are told to. */
function source(values: Record<string, string>) {
  const readings: { keys: readonly string[]; end: (error?: Error) => void }[] = [];
  const read = (keys: readonly string[]) =>
    new Promise<Map<string, string>>((resolve, reject) => {
      const end = (error?: Error) => (error ? reject(error) : resolve(new Map(Object.entries({ ...values }))));
      readings.push({ keys, end });
    });
  return { readings, reads: new BatchLoader(read, "absent"), values };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test("what is asked for at once is read at once, each key one time", async () => {
  const { readings, reads } = source({ a: "1", b: "2" });
  const answers = Promise.all(["a", "b", "a", "c"].map((key) => reads.of(key)));
  await settled();
  expect(readings.map(({ keys }) => keys)).toEqual([["a", "b", "c"]]);
  readings[0]!.end();
  expect(await answers).toEqual(["1", "2", "1", "absent"]);
});

test("who asks while a reading is under way gets a later one, never what was read before", async () => {
  const { readings, reads, values } = source({ a: "old" });
  const first = reads.of("a");
  await settled();
  const late = [reads.of("a"), reads.of("b")];
  await settled();
  expect(readings).toHaveLength(1);
  readings[0]!.end();
  expect(await first).toBe("old");
  values["a"] = "new";
  await settled();
  expect(readings.map(({ keys }) => keys)).toEqual([["a"], ["a", "b"]]);
  readings[1]!.end();
  expect(await Promise.all(late)).toEqual(["new", "absent"]);
});

test("a reading that fails fails for those who waited for it, and for nobody after", async () => {
  const { readings, reads } = source({ a: "1" });
  const failed = [reads.of("a"), reads.of("b")];
  await settled();
  readings[0]!.end(new Error("gone"));
  for (const each of failed) await expect(each).rejects.toThrow("gone");
  const again = reads.of("a");
  await settled();
  readings[1]!.end();
  expect(await again).toBe("1");
});
