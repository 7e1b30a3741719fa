import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import type { Db } from "../../../domain/database-types.ts";
import type { LogLevel } from "../../../domain/ports/runtime-logs.ts";
import { followRuntimeLogs } from "../../../domain/runtime-logs/follow-runtime-logs.ts";
import { listRuntimeLogs, type RuntimeLogPageRequest } from "../../../domain/runtime-logs/list-runtime-logs.ts";
import { RuntimeLogTail } from "../../../domain/runtime-logs/runtime-log-tail.ts";
import type { RuntimeLogFilter, RuntimeLogView } from "../../../domain/runtime-logs/runtime-log-view.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { StreamChunk } from "../../../domain/shared/stream-events.ts";
import { ReferenceCountedInstances } from "../../../domain/shared/reference-counted-instances.ts";
import { MemoryRuntimeLogs } from "../../support/memory-runtime-logs.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { WAIT_LIMIT_MS } from "../../support/time-limits.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

const LEVELS: [LogLevel, string][] = [
  ["debug", "one"],
  ["info", "two"],
  ["warn", "three"],
  ["error", "four"],
];
/** The time of the second message of a test. */
const SECOND = "2026-01-01T00:00:02Z";

async function givenLogs(...messages: [LogLevel, string][]) {
  const tenant = await service().tenant();
  const { id, slug } = await service().givenApp(tenant);
  const app = { id, slug };
  const runtimeLogs = new MemoryRuntimeLogs();
  runtimeLogs.print(app, ...messages);
  const { db } = service().service.parts;
  const deps = { db, runtimeLogs, runtimeLogTails: new ReferenceCountedInstances<RuntimeLogTail>() };
  const caller = { orgId: tenant.org_id } as Caller;
  const follow = (filter: RuntimeLogFilter = {}, lastEventId: string | null = null, appId = id) =>
    followRuntimeLogs(deps, caller, { id: appId, ...filter }, lastEventId);
  return {
    app,
    runtimeLogs,
    print: (...printed: [LogLevel, string][]) => runtimeLogs.print(app, ...printed),
    list: (request: Partial<RuntimeLogPageRequest> = {}) => listRuntimeLogs(deps, caller, { id, ...request }),
    follow,
    /** Follows the log until the test has finished. */
    open: async (...request: Parameters<typeof follow>) => {
      const stream = (await follow(...request))!;
      onTestFinished(stream.close);
      return stream;
    },
  };
}

const textsOf = ({ logs }: { logs: RuntimeLogView[] }) => logs.map(({ message }) => message);
const linesOf = (chunk: StreamChunk) => chunk.map(({ data }) => (JSON.parse(data) as RuntimeLogView).message);
const signal = () => AbortSignal.timeout(WAIT_LIMIT_MS);

test("records are listed newest first, in pages that neither repeat nor leave out a record", async () => {
  const { list } = await givenLogs(...LEVELS);
  const first = await list({ limit: 3 });
  expect(textsOf(first)).toEqual(["four", "three", "two"]);
  const second = await list({ limit: 3, cursor: first.next_cursor! });
  expect([textsOf(second), second.next_cursor]).toEqual([["one"], null]);
  expect(await list({ limit: 4 })).toMatchObject({ next_cursor: null });
  expect((await list({ limit: 1 })).logs).toEqual([
    { time: "2026-01-01T00:00:04.000Z", level: "error", message: "four", request_id: "request-4" },
  ]);
});

test("a page has 100 records by default, and an app that printed nothing has an empty page", async () => {
  const { list, print } = await givenLogs();
  expect(await list()).toEqual({ logs: [], next_cursor: null });
  print(...Array.from({ length: 101 }, (_, n): [LogLevel, string] => ["info", String(n)]));
  const page = await list();
  expect([page.logs.length, textsOf(page).at(-1)]).toEqual([100, "1"]);
  expect(textsOf(await list({ cursor: page.next_cursor! }))).toEqual(["0"]);
});

test("records are filtered by level and by time, which includes the given moment", async () => {
  const { list } = await givenLogs(...LEVELS);
  for (const [level, expected] of [
    ["debug", ["four", "three", "two", "one"]],
    ["info", ["four", "three", "two"]],
    ["warn", ["four", "three"]],
    ["error", ["four"]],
  ] as const)
    expect([level, textsOf(await list({ level }))]).toEqual([level, expected]);
  expect(textsOf(await list({ since: SECOND }))).toEqual(["four", "three", "two"]);
  expect(textsOf(await list({ since: SECOND, level: "error", limit: 1 }))).toEqual(["four"]);
  await expect(list({ cursor: "x" })).rejects.toMatchObject({ code: "invalid" });
});

test("the app of another organization, and an app that does not exist, are not found", async () => {
  const [{ list, follow }, foreign] = [await givenLogs(), await givenLogs(...LEVELS)];
  for (const id of [foreign.app.id, randomUUID()]) {
    await expect(list({ id })).rejects.toMatchObject({ code: "not_found" });
    for (const lastEventId of [null, "end"])
      await expect(follow({}, lastEventId, id)).rejects.toMatchObject({ code: "not_found" });
  }
  expect(foreign.runtimeLogs.reads).toBe(0);
});

test("a stream begins with the next record, or with the first one since a time, or after the last event", async () => {
  const { open, follow, print } = await givenLogs(...LEVELS);
  const streams = [await open(), await open({ since: SECOND }), await open({ since: SECOND }, "3")];
  streams.push(await open({ since: "2027-01-01T00:00:00Z" }), await open({ since: "2025-01-01T00:00:00Z" }));
  print(["info", "five"]);
  const lines = await Promise.all(streams.map(async (stream) => linesOf(await stream.next(signal()))));
  expect(lines).toEqual([
    ["five"],
    ["two", "three", "four", "five"],
    ["four", "five"],
    ["five"],
    ["one", "two", "three", "four", "five"],
  ]);
  print(["info", "six"]);
  for (const stream of streams) expect(linesOf(await stream.next(signal()))).toEqual(["six"]);
  expect(await follow({}, "end")).toBeNull();
});

test("an event has the id and the view of its record, and records below the level are left out", async () => {
  const { open, print } = await givenLogs();
  const [stream, all] = [await open({ level: "warn" }), await open()];
  print(...LEVELS);
  expect((await stream.next(signal())).map(({ id, type, data }) => [id, type, JSON.parse(data)])).toEqual([
    ["3", "line", { time: "2026-01-01T00:00:03.000Z", level: "warn", message: "three", request_id: "request-3" }],
    ["4", "line", { time: "2026-01-01T00:00:04.000Z", level: "error", message: "four", request_id: "request-4" }],
  ]);
  expect(linesOf(await all.next(signal()))).toEqual(["one", "two", "three", "four"]);
});

test("the id of an event that no stream has is rejected", async () => {
  const { follow } = await givenLogs();
  for (const id of ["", "0", "01", "-1", "1.5", "x", " 1", "1 ", "the end", "ended", "1".repeat(17)])
    await expect(follow({}, id)).rejects.toMatchObject({ code: "invalid" });
  (await follow({}, "1".repeat(16)))!.close();
});

test("the streams of one app share one listener, which ends with the last of them", async () => {
  const { app, runtimeLogs, follow } = await givenLogs(...LEVELS);
  const [first, second] = [await follow({ since: SECOND }), await follow({ since: SECOND })];
  expect([runtimeLogs.listenersOf(app), runtimeLogs.reads]).toEqual([1, 1]);
  expect(await first!.next(signal())).toBe(await second!.next(signal()));
  first!.close();
  expect(runtimeLogs.listenersOf(app)).toBe(1);
  second!.close();
  expect(runtimeLogs.listenersOf(app)).toBe(0);
});

test("a stream whose records cannot be read leaves no listener", async () => {
  const { app, runtimeLogs, follow } = await givenLogs();
  runtimeLogs.read = () => Promise.reject(new Error("lost"));
  await expect(follow()).rejects.toThrow("lost");
  expect(runtimeLogs.listenersOf(app)).toBe(0);
});

test("a chunk has at most 100 records, and ends after 16 KiB of messages", async () => {
  const { open, print } = await givenLogs();
  const stream = await open();
  print(...Array.from({ length: 120 }, (): [LogLevel, string] => ["info", "short"]));
  expect((await stream.next(signal())).length).toBe(100);
  expect((await stream.next(signal())).length).toBe(20);
  const half = "x".repeat(8 * 1024);
  print(...Array.from({ length: 5 }, (): [LogLevel, string] => ["info", half]));
  expect((await stream.next(signal())).length).toBe(3);
  expect((await stream.next(signal())).length).toBe(2);
});

test("a slow reader gets the newest 4,000 records, of at most a million characters together", async () => {
  const { open, print } = await givenLogs(["info", "first"]);
  const [byCount, bySize] = [await open({}, "1"), await open({}, "1")];
  print(...Array.from({ length: 4100 }, (_, n): [LogLevel, string] => ["info", `line ${n}`]));
  expect(linesOf(await byCount.next(signal()))[0]).toBe("line 100");
  const large = "x".repeat(1024);
  print(...Array.from({ length: 1100 }, (_, n): [LogLevel, string] => ["info", `${n % 10}${large.slice(1)}`]));
  let received = 0;
  while (received < 1024) received += (await bySize.next(signal())).length;
  expect(received).toBe(1024);
});

test("records that are printed while the stored ones are read are neither repeated nor lost", async () => {
  const { app, runtimeLogs, print } = await givenLogs(["info", "first"], ["info", "stored"]);
  const read = runtimeLogs.read.bind(runtimeLogs);
  runtimeLogs.read = async (logged) => {
    print(["info", "stored meanwhile"]);
    const records = await read(logged);
    print(["info", "printed meanwhile"]);
    return records;
  };
  const tail = new RuntimeLogTail({ db: service().service.parts.db, runtimeLogs }, app);
  onTestFinished(() => tail[Symbol.dispose]());
  await Promise.all([tail.open(), tail.open()]);
  expect(linesOf(await tail.readAfter(0, "debug", signal()))).toEqual([
    "first",
    "stored",
    "stored meanwhile",
    "printed meanwhile",
  ]);
});

test("a record that arrives after newer ones, from another machine, reaches every reader once", async () => {
  const { app, runtimeLogs, open, print, list } = await givenLogs(...LEVELS);
  const stream = await open();
  print(["info", "five"], ["info", "six"], ["info", "seven"]);
  expect(linesOf(await stream.next(signal()))).toEqual(["five", "six", "seven"]);
  const [sixth] = (await runtimeLogs.read(app)).slice(5);
  runtimeLogs.add(app, { ...sixth!, id: 5.5, message: "late" });
  expect(linesOf(await stream.next(signal()))).toEqual(["late"]);
  print(["info", "eight"]);
  expect(linesOf(await stream.next(signal()))).toEqual(["eight"]);
  const resumed = await Promise.all(["6", "7"].map((id) => open({}, id)));
  print(["info", "nine"]);
  const lines = await Promise.all(resumed.map(async (each) => linesOf(await each.next(signal()))));
  expect(lines).toEqual([
    ["seven", "late", "eight", "nine"],
    ["late", "eight", "nine"],
  ]);
  expect(textsOf(await list({ limit: 3 }))).toEqual(["nine", "eight", "seven"]);
});

test("a stream ends when its app is deleted, after all of its records", async () => {
  for (const remove of [
    (id: string) => em().nativeUpdate(App, { id }, { status: "deleting" }),
    (id: string) => em().nativeDelete(App, { id }),
  ]) {
    const { app, open, print } = await givenLogs();
    const stream = await open();
    print(["info", "last words"]);
    await remove(app.id);
    expect(linesOf(await stream.next(signal()))).toEqual(["last words"]);
    const [end, ...rest] = await stream.next(signal());
    expect([end, rest]).toEqual([{ id: "end", type: "end", data: '{"status":"deleting"}' }, []]);
  }
});

test("a reader that waits gets the next record as soon as it is printed", async () => {
  const { open, print } = await givenLogs();
  const stream = await open();
  const next = stream.next(signal());
  await new Promise(setImmediate);
  print(["info", "one"]);
  expect(linesOf(await next)).toEqual(["one"]);
});

test("the app of a closed stream is no longer checked", async () => {
  const { app, runtimeLogs } = await givenLogs();
  const { db } = service().service.parts;
  let checks = 0;
  const counting = {
    selectFrom: (table: "apps") => {
      checks += 1;
      return db.selectFrom(table);
    },
  };
  const tail = new RuntimeLogTail({ db: counting as unknown as Db, runtimeLogs }, app);
  await expect.poll(() => checks).toBe(1);
  tail[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(checks).toBe(1);
});

test("a stream of an app that exists stays open, and ends with the reason of the reader's signal", async () => {
  const { open } = await givenLogs();
  const stream = await open();
  const reason = new Error("gone away");
  const controller = new AbortController();
  const next = stream.next(controller.signal);
  setTimeout(() => controller.abort(reason), 1500);
  await expect(next).rejects.toBe(reason);
});
