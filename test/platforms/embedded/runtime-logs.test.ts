import { appendFile, readdir, stat } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RuntimeLogRecord } from "../../../domain/ports/runtime-logs.ts";
import { AppLog } from "../../../server/platforms/embedded/runtime-logs/app-log.ts";
import { openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";
import { TestVariables } from "../../support/edge/test-variables.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";
import { waitFor } from "../../support/time-limits.ts";

let edge: TestPlatform;

const CHATTY = `
import { DurableObject } from "cloudflare:workers";
console.log("while starting");
export class Room extends DurableObject { fetch() { console.log("in the room"); return new Response("room"); } }
export default { async fetch(request, env, ctx) {
  const { pathname } = new URL(request.url);
  if (pathname === "/levels") {
    console.debug("one"); console.log("two", { a: [1] }, null, undefined, 3n); console.info("three"); console.warn("four");
    console.error(new RangeError("five"));
  }
  if (pathname === "/throw") throw new TypeError("bad input");
  if (pathname === "/later") ctx.waitUntil(scheduler.wait(50).then(() => console.log("after the response")));
  if (pathname === "/hostile") console.log("\\u001b[31mred\\u001b[0m \\u0000nul \\ud800 lone\\n[service] ready\\n" + "x".repeat(100000));
  if (pathname === "/raw") for (const level of ["log", "constructor"])
    process.stdout.write('{"timestamp":1e300,"level":"' + level + '","message":"forged"}\\n{"bad\\n');
  if (pathname === "/flood") for (let n = 0; n < 5000; n++) console.log("line " + n);
  if (pathname === "/room") return env.ROOM.getByName("a").fetch(request);
  if (pathname === "/stream") {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    console.log("streaming");
    ctx.waitUntil(scheduler.wait(60000).then(() => writer.close()));
    writer.write(new TextEncoder().encode("first"));
    return new Response(readable);
  }
  return new Response("ok");
} };`;
const ROOM = {
  compatibilityFlags: ["nodejs_compat"],
  bindings: [{ name: "ROOM", type: "durable_object_namespace", class_name: "Room" }],
};

beforeAll(async () => {
  edge = await openTestPlatform();
  await edge.publish("chatty", CHATTY, ROOM);
});
afterAll(() => edge[Symbol.asyncDispose]());

const read = (slug = "chatty"): Promise<RuntimeLogRecord[]> =>
  edge.platform.runtimeLogs.read({ slug, id: `app-${slug}` });

/** Sends a request with an id, and returns its records once there are `count`. */
async function recordsOf(target: string, count: number, requestId = `request-${target.slice(1)}`) {
  const response = await edge.request("chatty", target, { headers: { "x-request-id": requestId } });
  const own = async () => (await read()).filter((record) => record.requestId === requestId);
  await waitFor(async () => expect((await own()).length).toBeGreaterThanOrEqual(count));
  return { response, records: await own() };
}

test("messages have their level, the time and the id of their request", async () => {
  const before = Date.now();
  const { records } = await recordsOf("/levels", 5);
  expect(records.map(({ level, message }) => [level, message])).toEqual([
    ["debug", "one"],
    ["info", 'two {"a":[1]} null null 3'],
    ["info", "three"],
    ["warn", "four"],
    ["error", expect.stringContaining("RangeError: five")],
  ]);
  for (const { time } of records) {
    // workerd has a clock of its own.
    expect(new Date(time).getTime()).toBeGreaterThanOrEqual(before - 1);
    expect(new Date(time).getTime()).toBeLessThanOrEqual(Date.now() + 1000);
  }
});

test("an uncaught exception is recorded with its stack, and a message after the response has the id of its request", async () => {
  const thrown = await recordsOf("/throw", 1);
  expect(thrown.response.status).toBe(500);
  expect(thrown.records).toEqual([
    expect.objectContaining({
      level: "error",
      message: expect.stringMatching(/^Uncaught TypeError: bad input\n\s+at /),
    }),
  ]);
  expect((await recordsOf("/later", 1)).records[0]).toMatchObject({ level: "info", message: "after the response" });
  expect((await recordsOf("/room", 1)).records[0]).toMatchObject({ message: "in the room" });
});

test("a message of the top-level code is recorded without a request", async () => {
  const [first] = await read();
  expect(first).toMatchObject({ level: "info", message: "while starting", requestId: null });
});

test("a message of a response that still streams is recorded at once", async () => {
  const controller = new AbortController();
  const request = http.get({
    host: "127.0.0.1",
    port: edge.platform.port,
    path: "/stream",
    headers: { host: `chatty.localhost:${edge.platform.port}` },
    signal: controller.signal,
  });
  request.on("error", () => undefined);
  await waitFor(async () => expect((await read()).map(({ message }) => message)).toContain("streaming"));
  controller.abort();
});

test("text that an app writes to its standard output itself does not end the service", async () => {
  expect((await edge.request("chatty", "/raw")).status).toBe(200);
  await recordsOf("/levels", 10);
});

verifies(
  hazard(67),
  "a hostile message is stored without control characters, shortened, and does not look like one of the service",
  async () => {
    const { records } = await recordsOf("/hostile", 1);
    const { message } = records[0]!;
    expect(message).toMatch(/^red nul \ufffd lone\n> \[service\] ready\nx+… \(\d+ more characters\)$/);
    expect(message.length).toBeLessThanOrEqual(8192);
  },
);

test("an app that prints too much loses messages, and the log says how many", async () => {
  await recordsOf("/flood", 500);
  const records = await waitFor(async () => {
    const all = await read();
    expect(all.at(-1)?.message).toMatch(/^\[service\] \d+ lines dropped/);
    return all;
  });
  const stored = records.filter(({ message }) => message.startsWith("line ")).length;
  const dropped = Number(/\d+/.exec(records.at(-1)!.message)?.[0]);
  expect(stored + dropped).toBe(5000);
  expect(dropped).toBeGreaterThan(0);
});

test("records survive a restart, a crash of the app is recorded, and the log is removed with the app", async () => {
  await using folder = await temporaryFolder();
  const dataDirectory = path.join(folder.path, "data");
  const app = { slug: "mortal", id: "app-mortal" };
  const script = `export default { fetch(request) {
    console.log("hello");
    if (request.url.endsWith("/grow")) { const all = []; for (;;) all.push(new Array(100000).fill(Math.random())); }
    return new Response("ok");
  } };`;
  const messages = async ({ platform }: TestPlatform) => (await platform.runtimeLogs.read(app)).map((it) => it.message);
  {
    await using first = await openTestPlatform({ dataDirectory });
    await first.publish("mortal", script);
    await first.request("mortal");
  }
  const logs = path.join(dataDirectory, "edge", "scripts", "mortal", "app-mortal", "logs");
  // What a crash of the service leaves of a line.
  await appendFile(path.join(logs, "current.jsonl"), '{"id":17');
  await using second = await openTestPlatform({ dataDirectory });
  expect(await messages(second)).toEqual(["hello", "hello"]);
  await second.request("mortal", "/grow");
  await waitFor(async () => {
    const all = await messages(second);
    expect(all.slice(0, 3)).toEqual(["hello", "hello", "hello"]);
    expect(all.at(-1)).toMatch(/^\[service\] The process of the app ended unexpectedly\./);
  });
  await second.platform.scripts.unpublish("mortal");
  expect(await second.platform.runtimeLogs.read(app)).toEqual([]);
  await expect(readdir(path.dirname(logs))).rejects.toThrow("ENOENT");
});

verifies(hazard(48), "a secret of the app that it prints is masked", async () => {
  const variables = new TestVariables();
  variables.set("app-secretive", { API_KEY: "swordfish-swordfish" });
  await using own = await openTestPlatform({ variables });
  await own
    .publish(
      "secretive",
      "export default { fetch(_, env) { console.log('key', env.API_KEY); throw new Error(env.API_KEY); } };",
      { compatibilityFlags: ["nodejs_compat"] },
    )
    .catch(() => undefined);
  const messages = async () => {
    const records = await own.platform.runtimeLogs.read({ slug: "secretive", id: "app-secretive" });
    return records.map(({ message }) => message);
  };
  await waitFor(async () => {
    const [printed, thrown] = await messages();
    expect([printed, thrown]).toEqual(["key [masked]", expect.stringMatching(/^Uncaught Error: \[masked\]/)]);
  });
});

test("the files of a log stay within their limit, and the newest records are kept in order", async () => {
  await using folder = await temporaryFolder();
  const log = new AppLog(folder.path);
  for (let n = 0; n < 1000; n++) {
    log.say("info", `${n} ${"x".repeat(4000)}`);
    if (n % 20 === 0) await log.flush();
  }
  const records = await log.read();
  const numbers = records.map(({ message }) => Number(message.split(" ")[1]));
  expect(numbers.at(-1)).toBe(999);
  expect(numbers).toEqual(Array.from(numbers, (_, at) => numbers[0]! + at));
  for (const name of await readdir(folder.path))
    expect((await stat(path.join(folder.path, name))).size).toBeLessThan(700_000);
  log[Symbol.dispose]();
});

test("a log masks the secrets of the app, also those that an older process still has", async () => {
  await using folder = await temporaryFolder();
  const log = new AppLog(folder.path);
  log.setMasks(["swordfish"]);
  log.setMasks(["herring"]);
  log.print([Date.now(), "log", null, "swordfish and herring"]);
  log.print([Date.now(), "log", 'bad id "', `${"x".repeat(8180)}swordfish`]);
  const records = await log.read();
  expect(records[0]).toMatchObject({ message: "[masked] and [masked]", requestId: null });
  expect(records[1]!.message).not.toContain("sword");
  expect(records[1]!.requestId).toBeNull();
  log[Symbol.dispose]();
});
