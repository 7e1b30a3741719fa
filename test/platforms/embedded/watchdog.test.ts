import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { describeFailure } from "../../../server/platforms/embedded/supervisor/describe-failure.ts";
import { openLocalSupervisor } from "../../support/edge/local-supervisor.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance", "setInterval", "clearInterval"] });
});

afterEach(() => vi.useRealTimers());

/** Lets the watchdog check the apps, and what it does finish. */
async function checks(count: number): Promise<void> {
  for (let check = 0; check < count; check++) {
    vi.advanceTimersByTime(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const reasons = (log: readonly Record<string, unknown>[]) =>
  log.flatMap(({ slug, reason }) => (reason === undefined ? [] : [[slug, reason]]));

test("an app is stopped when it had no request for the idle time", async () => {
  await using local = await openLocalSupervisor({ idleMs: 3000 });
  await local.publish("shop");
  await checks(2);
  const app = await local.supervisor.acquire("shop", false);
  await checks(5);
  expect(local.supervisor.active).toEqual(["shop"]);
  app!.release();
  await checks(2);
  expect(local.supervisor.active).toEqual(["shop"]);
  await checks(1);
  expect([local.supervisor.active, local.processes[0]!.isStopped, reasons(local.log)]).toEqual([[], true, []]);
  expect(local.log.at(-1)).toEqual({ message: "idle app stopped", slug: "shop", appId: "app-shop" });
});

test("an app that uses more memory than allowed is killed", async () => {
  await using local = await openLocalSupervisor({ residentMb: 300 });
  await local.publish("small");
  await local.publish("large");
  local.processes[0]!.resident = 300;
  local.processes[1]!.resident = 301;
  await checks(1);
  expect([local.supervisor.active, reasons(local.log)]).toEqual([["small"], [["large", "memory"]]]);
});

test("an app that does not respond is killed when it has used the CPU time of the limit since its last response", async () => {
  await using local = await openLocalSupervisor({ hangMs: 3000 });
  await local.publish("shop");
  const process = local.processes[0]!;
  const checksWithUsage = async (count: number) => {
    for (let check = 0; check < count; check++) {
      await checks(1);
      process.cpuTimeMs += 1000;
    }
  };
  process.isHanging = true;
  await checksWithUsage(3);
  process.isHanging = false;
  await checksWithUsage(1);
  process.isHanging = true;
  await checksWithUsage(3);
  expect(local.supervisor.active).toEqual(["shop"]);
  await checks(1);
  expect([local.supervisor.active, reasons(local.log), process.probes]).toEqual([[], [["shop", "hang"]], 8]);
});

test("an app that does not respond and only waits, as for a slow disk, is killed after six times the limit", async () => {
  await using local = await openLocalSupervisor({ hangMs: 3000 });
  await local.publish("shop");
  local.processes[0]!.isHanging = true;
  await checks(18);
  expect(local.supervisor.active).toEqual(["shop"]);
  await checks(1);
  expect([local.supervisor.active, reasons(local.log)]).toEqual([[], [["shop", "hang"]]]);
});

test("a check that takes long is not repeated before it ends, and one that fails is reported and repeated", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  const [process] = local.processes;
  const pending = Promise.withResolvers<number>();
  let checked = 0;
  process!.residentMb = () => {
    checked++;
    return pending.promise;
  };
  await checks(3);
  expect(checked).toBe(1);
  const err = new Error("no process");
  pending.reject(err);
  await checks(2);
  expect([checked, local.log[1]]).toEqual([2, { message: "watchdog could not check an app", err }]);
});

test("a watchdog of a supervisor that has closed checks nothing", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  await local.supervisor.close();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ["memory", null, /too much memory and was stopped\. It starts again with the next request\.$/],
  ["hang", null, /did not respond and was stopped\. Its code may contain an endless loop\.$/],
  ["crashed", "out of stack", /ended unexpectedly\. .* Last error: out of stack$/],
])("the record of an app that ended with %s says why", (reason, lastError, expected) => {
  expect(describeFailure(reason, lastError)).toMatch(expected);
});
