import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DeploymentLog } from "../../../domain/deployments/deployment-log.ts";
import type { ObjectStore } from "../../../domain/ports/object-store.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A log on a store that records what is written. Its writes fail, or take some time, as the test says. */
async function openLog(secrets: string[] = []) {
  const state = { failures: 0, putMs: 0, announced: 0 };
  const written: string[] = [];
  const put = async (_bucket: string, _key: string, body: Uint8Array) => {
    await new Promise<void>((resolve) => (state.putMs === 0 ? resolve() : setTimeout(resolve, state.putMs)));
    if (state.failures-- > 0) throw new Error("the store is full");
    written.push(new TextDecoder().decode(body));
  };
  const objects = { put, get: async () => null } as Partial<ObjectStore> as ObjectStore;
  const log = await DeploymentLog.open({ objects, key: "a/1.log", secrets, onStored: () => void state.announced++ });
  return { log, state, written };
}

const bytes = (text: string) => new TextEncoder().encode(text);

test("a change is written after a tenth of a second, and announced once it is stored", async () => {
  const { log, state, written } = await openLog();
  log.output(bytes("one\n"));
  log.output(bytes("two\n"));
  await vi.advanceTimersByTimeAsync(99);
  expect([written, state.announced]).toEqual([[], 0]);
  await vi.advanceTimersByTimeAsync(1);
  expect([written, state.announced]).toEqual([["one\ntwo\n"], 1]);
});

test("a write that failed is not announced, and is repeated after a second", async () => {
  const { log, state, written } = await openLog();
  state.failures = 1;
  log.output(bytes("one\n"));
  await vi.advanceTimersByTimeAsync(1099);
  expect([written, state.announced]).toEqual([[], 0]);
  await vi.advanceTimersByTimeAsync(1);
  expect([written, state.announced]).toEqual([["one\n"], 1]);
});

test("a write to a slow store delays the next one by the same time", async () => {
  const { log, state, written } = await openLog();
  state.putMs = 500;
  log.output(bytes("one\n"));
  await vi.advanceTimersByTimeAsync(600);
  expect(written).toHaveLength(1);
  state.putMs = 0;
  log.output(bytes("two\n"));
  await vi.advanceTimersByTimeAsync(499);
  expect(written).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(written).toHaveLength(2);
});

test("a closed log is not written again, even if its last write failed", async () => {
  const { log, state, written } = await openLog();
  state.failures = 1;
  log.output(bytes("one\n"));
  await log.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(written).toEqual([]);
});

test("an abandoned log is not written any more", async () => {
  const { log, written } = await openLog();
  log.output(bytes("one\n"));
  log.abandon();
  await vi.advanceTimersByTimeAsync(5000);
  await log.close();
  expect(written).toEqual([]);
});

test("of a line that is too long, at most 32 KiB wait for the end of a secret", async () => {
  for (const [secretLength, kept] of [
    [20, 19],
    [40_000, 32 * 1024],
  ] as const) {
    const { log, written } = await openLog(["s".repeat(secretLength)]);
    log.output(bytes("x".repeat(65_537)));
    await vi.advanceTimersByTimeAsync(100);
    expect(written.map(({ length }) => length)).toEqual([65_537 - kept]);
  }
});
