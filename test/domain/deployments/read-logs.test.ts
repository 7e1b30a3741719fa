import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { LOG_BUCKET } from "../../../domain/apps/app-resources.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { DeploymentLogTails, followDeploymentLog } from "../../../domain/deployments/follow-deployment-log.ts";
import { readDeploymentLog, readLogOfDeployment } from "../../../domain/deployments/read-deployment-log.ts";
import { readLogTail } from "../../../domain/deployments/read-log-tail.ts";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { StreamChunk } from "../../../domain/shared/stream-events.ts";
import { failing } from "../../support/edge/platform-resources.ts";
import { fakeIntervals } from "../../support/fake-intervals.ts";
import { givenSecondDeployment } from "../../support/service/given-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { WAIT_LIMIT_MS } from "../../support/time-limits.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const signal = () => AbortSignal.timeout(WAIT_LIMIT_MS);

/** An app with a live deployment 1 and a deployment 2 in progress, and functions that read their logs. */
async function givenLogs() {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const second = await givenSecondDeployment(em(), app, "provisioning");
  const { db, deploymentDeps } = service().service.parts;
  const { objects, logChanges } = deploymentDeps;
  const deps = { db, objects, logTails: new DeploymentLogTails({ db, objects }, logChanges) };
  onTestFinished(() => deps.logTails[Symbol.dispose]());
  const caller = { orgId: tenant.org_id } as Caller;
  const { logKey: firstKey } = await em().findOneOrFail(Deployment, { id: app.latestDeploymentId });
  return {
    app,
    deps,
    caller,
    /** Stores the whole log of a deployment, and announces it. */
    write: async (number: 1 | 2, text: string) => {
      await objects.put(LOG_BUCKET, number === 1 ? firstKey : second.logKey, new TextEncoder().encode(text));
      logChanges.announce(number === 1 ? app.latestDeploymentId : second.deploymentId);
    },
    end: (fields: Partial<Deployment>) => em().nativeUpdate(Deployment, { id: second.deploymentId }, fields),
    tail: (number?: number) => readLogTail(deps, caller, { app_id: app.id, number }),
    follow: async (number?: number, lastEventId: string | null = null) => {
      const stream = await followDeploymentLog(deps, caller, { id: app.id, number }, lastEventId);
      if (stream !== null) onTestFinished(() => stream.close());
      return stream;
    },
  };
}

const linesOf = (chunk: StreamChunk) => chunk.map(({ data }) => data);
const idsOf = (chunk: StreamChunk) => chunk.map(({ id }) => id);

test("the log of the newest deployment is shown with the status of the app, and that of a number with its own", async () => {
  const { app, deps, caller, write, end } = await givenLogs();
  await write(1, "first\n");
  await end({ statusMessage: "Of the deployment." });
  await em().nativeUpdate(App, { id: app.id }, { statusMessage: "Of the app.", error: "An error." });
  expect(await readDeploymentLog(deps, caller, app.id)).toEqual({
    status: "provisioning",
    status_message: "Of the app.",
    error: "An error.",
    logs: null,
  });
  await write(2, "zwö\n");
  expect(await readDeploymentLog(deps, caller, app.id)).toMatchObject({ logs: "zwö\n" });
  const read = (number: number) => readLogOfDeployment(deps, caller, { id: app.id, number });
  expect(await read(1)).toEqual({ status: "ready", status_message: null, error: null, logs: "first\n" });
  expect(await read(2)).toMatchObject({ status_message: "Of the deployment.", logs: "zwö\n" });
  await expect(read(3)).rejects.toMatchObject({ code: "not_found" });
});

test("the log of a deployment that runs is read after the time to wait, and at once when it has ended", async () => {
  const { app, deps, caller, end } = await givenLogs();
  const waiting = readLogTail(deps, caller, { app_id: app.id, number: 2, wait_seconds: 50 });
  await end({ status: "failed" });
  expect((await waiting).status).toBe("failed");
});

test("the logs of another organization's app and of an unknown app are not found", async () => {
  const [{ deps, caller }, foreign] = [await givenLogs(), await givenLogs()];
  for (const id of [foreign.app.id, randomUUID()])
    for (const read of [
      () => readDeploymentLog(deps, caller, id),
      () => readLogOfDeployment(deps, caller, { id, number: 1 }),
      () => readLogTail(deps, caller, { app_id: id }),
      () => followDeploymentLog(deps, caller, { id }, null),
      () => followDeploymentLog(deps, caller, { id, number: 1 }, null),
    ])
      await expect(read()).rejects.toMatchObject({ code: "not_found" });
  const follow = (number?: number) => followDeploymentLog(deps, caller, { id: randomUUID(), number }, null);
  await expect(follow()).rejects.toThrow("App not found");
  await expect(follow(1)).rejects.toThrow("Deployment not found");
});

test("the tail of a log has its last whole lines, and says how many characters are left out", async () => {
  const { write, tail } = await givenLogs();
  expect(await tail()).toMatchObject({ status: "provisioning", log: null, omitted_characters: 0 });
  await write(1, "one\ntwo\n");
  expect(await tail(1)).toEqual({
    status: "ready",
    status_message: null,
    error: null,
    log: "one\ntwo\n",
    omitted_characters: 0,
  });
  const lines = Array.from({ length: 3000 }, (_, n) => `line ${n}.\n`);
  await write(2, lines.join(""));
  const { log, omitted_characters: omitted } = await tail();
  expect(log).toMatch(/^line \d+\.\n[^]*line 2999\.\n$/);
  expect(log!.length + omitted).toBe(lines.join("").length);
  expect(JSON.stringify(log).length).toBeLessThanOrEqual(20_000);
  expect(log!.length).toBeGreaterThan(15_000);
});

test("of a last line that is longer than a response, the end is shown, and no character is divided", async () => {
  const { write, tail } = await givenLogs();
  for (const [text, end] of [
    [`${"x".repeat(30_000)}\n`, "x\n"],
    [`short\n${"y".repeat(30_000)}`, "y"],
    ["😀".repeat(15_001), "😀"],
    [`${"😀".repeat(15_001)}x`, "x"],
    ['"'.repeat(30_001), '"'],
  ] as const) {
    await write(2, text);
    const { log, omitted_characters: omitted } = await tail();
    expect([log!.endsWith(end), log!.isWellFormed(), text.endsWith(log!)]).toEqual([true, true, true]);
    expect(log!.length + omitted).toBe(text.length);
    expect(JSON.stringify(log).length).toBeLessThanOrEqual(20_000);
    expect(JSON.stringify(log).length).toBeGreaterThan(17_000);
  }
});

test("a stream has the lines of a deployment in progress as they are stored, and ends with its status", async () => {
  const { write, follow, end } = await givenLogs();
  await write(2, "one\ntw");
  const stream = (await follow())!;
  const first = await stream.next(signal());
  expect([linesOf(first), idsOf(first)]).toEqual([["one"], ["2-4"]]);
  await write(2, "one\ntwo\nthree");
  expect(linesOf(await stream.next(signal()))).toEqual(["two"]);
  await end({ status: "failed", statusMessage: "Change it.", error: "No." });
  await write(2, "one\ntwo\nthree");
  expect(linesOf(await stream.next(signal()))).toEqual(["three"]);
  const data = JSON.stringify({ status: "failed", status_message: "Change it.", error: "No." });
  expect(await stream.next(signal())).toEqual([{ id: "2-end", type: "end", data }]);
});

test("a stream continues after the last event of the reader, and an id of another deployment begins again", async () => {
  const { write, follow } = await givenLogs();
  await write(1, "one\ntwo\n");
  for (const [lastEventId, expected] of [
    [null, ["one", "two"]],
    ["1-4", ["two"]],
    ["2-4", ["one", "two"]],
    ["2-end", ["one", "two"]],
    ["1-0", ["one", "two"]],
  ] as const)
    expect([lastEventId, linesOf(await (await follow(1, lastEventId))!.next(signal()))]).toEqual([
      lastEventId,
      expected,
    ]);
  expect(await follow(1, "1-end")).toBeNull();
  const invalid = [
    "",
    "x",
    "1",
    "1-",
    "0-1",
    "1-x",
    "1-ends",
    "x1-1",
    "1-1x",
    `1-${"1".repeat(16)}`,
    `${"1".repeat(10)}-1`,
  ];
  for (const id of invalid) await expect(follow(1, id)).rejects.toMatchObject({ code: "invalid" });
  await expect(follow(1, `${"1".repeat(9)}-${"1".repeat(15)}`)).resolves.not.toBeNull();
});

test("a chunk has at most 250 lines and 16 KiB, and readers at the same place get the same one", async () => {
  const { write, follow } = await givenLogs();
  const lines = [
    ...Array.from({ length: 300 }, (_, n) => `${n}`),
    ...Array.from({ length: 40 }, () => "x".repeat(1023)),
  ];
  await write(1, lines.map((line) => `${line}\n`).join(""));
  const [stream, other] = [(await follow(1))!, (await follow(1))!];
  const first = await stream.next(signal());
  expect([first.length, await other.next(signal())]).toEqual([250, first]);
  expect(await other.next(signal())).toBe(await stream.next(signal()));
  const received = [...first];
  const again = (await follow(1))!;
  received.length = 0;
  for (let chunk = await again.next(signal()); chunk[0]!.type === "line"; chunk = await again.next(signal())) {
    expect(linesOf(chunk).join("\n").length).toBeLessThanOrEqual(16 * 1024);
    received.push(...chunk);
  }
  expect(linesOf(received)).toEqual(lines);
});

test("a stream ends when its app is deleted, and still has what was read of its log", async () => {
  for (const remove of [
    (id: string) => em().nativeUpdate(App, { id }, { status: "deleting" }),
    (id: string) => em().nativeDelete(App, { id }),
  ]) {
    const { app, deps, write, follow } = await givenLogs();
    await write(2, "one\n");
    const stream = (await follow(2))!;
    await remove(app.id);
    const { logKey } = await em().findOneOrFail(Deployment, { appId: app.id, number: 2 });
    await deps.objects.remove(LOG_BUCKET, logKey);
    expect(linesOf(await stream.next(signal()))).toEqual(["one"]);
    const data = { status: "deleting", status_message: "The app is being torn down.", error: null };
    const end = await stream.next(signal());
    expect(end.map(({ id, data: shown }) => [id, JSON.parse(shown)])).toEqual([["2-end", data]]);
  }
});

test("a log that cannot be read at first is an error, and a later failure is repeated", async () => {
  const { app, deps, caller, write } = await givenLogs();
  const { db } = deps;
  const { logChanges } = service().service.parts.deploymentDeps;
  await write(2, "one\n");
  const objects = failing(deps.objects, "get", 1);
  const logTails = new DeploymentLogTails({ db, objects }, logChanges);
  onTestFinished(() => logTails[Symbol.dispose]());
  const follow = () => followDeploymentLog({ db, objects, logTails }, caller, { id: app.id }, null);
  await expect(follow()).rejects.toThrow("500");
  const stream = (await follow())!;
  onTestFinished(() => stream.close());
  expect(linesOf(await stream.next(signal()))).toEqual(["one"]);
});

test("a notice makes the stream of its deployment read the log, and so does a gap in the notices", async () => {
  const { app, deps, caller } = await givenLogs();
  fakeIntervals();
  let notices: Parameters<ChangeFeed["listen"]> | undefined;
  const changes = {
    announce: () => undefined,
    listen: (...listeners: Parameters<ChangeFeed["listen"]>) => {
      notices = listeners;
      return () => (notices = undefined);
    },
  } as ChangeFeed;
  let reads = 0;
  const objects = Object.assign(Object.create(deps.objects) as typeof deps.objects, {
    get: async () => {
      reads += 1;
      return new TextEncoder().encode("line\n".repeat(reads));
    },
  });
  const logTails = new DeploymentLogTails({ db: deps.db, objects }, changes);
  const stream = (await followDeploymentLog({ db: deps.db, objects, logTails }, caller, { id: app.id }, null))!;
  const { latestDeploymentId } = await em().findOneOrFail(App, { id: app.id });
  const [onChange, onGap] = notices!;
  const before = reads;
  onChange(latestDeploymentId);
  await expect.poll(() => reads).toBeGreaterThan(before);
  const afterNotice = reads;
  onGap?.();
  await expect.poll(() => reads).toBeGreaterThan(afterNotice);
  stream.close();
  logTails[Symbol.dispose]();
  expect(notices).toBeUndefined();
});

test("a log that is no longer followed is not read again: after the last reader, a failed first read, and the end of the process", async () => {
  const { app, deps, caller, write } = await givenLogs();
  await write(2, "one\n");
  fakeIntervals();
  const stream = (await followDeploymentLog(deps, caller, { id: app.id }, null))!;
  expect(vi.getTimerCount()).toBe(1);
  stream.close();
  expect(vi.getTimerCount()).toBe(0);
  const { logChanges } = service().service.parts.deploymentDeps;
  const objects = failing(deps.objects, "get", 1);
  const logTails = new DeploymentLogTails({ db: deps.db, objects }, logChanges);
  const followFailing = () => followDeploymentLog({ db: deps.db, objects, logTails }, caller, { id: app.id }, null);
  await expect(followFailing()).rejects.toThrow("500");
  expect(vi.getTimerCount()).toBe(0);
  await followFailing();
  expect(vi.getTimerCount()).toBe(1);
  logTails[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});
