import { expect, test } from "vitest";
import type { RuntimeLogRecord } from "../../../domain/ports/runtime-logs.ts";
import { openTwoEdges, type TestEdge, type TwoEdges } from "../../support/edge/remote-edge.ts";

const APP = { id: "app-shop", slug: "shop" };
const LOGGING = `export default { fetch(request) { console.log(new URL(request.url).pathname); return new Response("ok"); } }`;

const pathsOf = (records: readonly RuntimeLogRecord[]) =>
  records.map(({ message }) => message).filter((message) => /^\/./.test(message));

async function openLoggingEdges(): Promise<TwoEdges> {
  const edges = await openTwoEdges();
  for (const { t } of [edges.first, edges.second]) await t.publish("shop", LOGGING);
  return edges;
}

/** Sends a request, and waits until the edge has what it printed. */
async function print({ t }: TestEdge, path: string): Promise<void> {
  await t.request("shop", path);
  await expect.poll(async () => pathsOf(await t.platform.runtimeLogs.read(APP))).toContain(path);
}

test("the records of all edges are read in the order in which they were printed, each with an id of its own", async () => {
  await using edges = await openLoggingEdges();
  const { first, second, ports } = edges;
  for (const [edge, path] of [
    [first, "/1"],
    [second, "/2"],
    [first, "/3"],
    [second, "/4"],
  ] as const)
    await print(edge, path);
  const records = await ports.runtimeLogs.read(APP);
  expect(pathsOf(records)).toEqual(["/1", "/2", "/3", "/4"]);
  const ids = records.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  expect(ids.every((id) => Number.isSafeInteger(id) && id > Date.now() * 1000)).toBe(true);
  await second.disconnect();
  expect(pathsOf(await ports.runtimeLogs.read(APP))).toEqual(["/1", "/3"]);
});

test("the logs of all edges are followed, also when one is lost, and when it comes back", async () => {
  await using edges = await openLoggingEdges();
  const { first, second, ports } = edges;
  const heard: RuntimeLogRecord[] = [];
  const stop = ports.runtimeLogs.listen(APP, (records) => heard.push(...records));
  const hear = (path: string) => expect.poll(() => pathsOf(heard), { timeout: 10_000 }).toContain(path);
  await first.t.request("shop", "/1");
  await second.t.request("shop", "/2");
  await hear("/1");
  await hear("/2");
  await second.disconnect();
  await second.t.request("shop", "/3");
  await first.t.request("shop", "/4");
  await hear("/4");
  expect(pathsOf(heard)).not.toContain("/3");
  await second.listen();
  await hear("/3");
  await second.t.request("shop", "/5");
  await hear("/5");
  expect(pathsOf(heard).toSorted()).toEqual(["/1", "/2", "/3", "/4", "/5"]);
  const stored = new Set((await ports.runtimeLogs.read(APP)).map(({ id }) => id));
  expect(heard.every(({ id }) => stored.has(id))).toBe(true);
  stop();
});

test("an edge that comes later does not send what it had stored before the log was followed", async () => {
  await using edges = await openLoggingEdges();
  const { second, ports } = edges;
  await print(second, "/old");
  await second.disconnect();
  const heard: RuntimeLogRecord[] = [];
  const stop = ports.runtimeLogs.listen(APP, (records) => heard.push(...records));
  await edges.first.t.request("shop", "/1");
  await expect.poll(() => pathsOf(heard)).toContain("/1");
  await second.listen();
  await second.t.request("shop", "/new");
  await expect.poll(() => pathsOf(heard), { timeout: 10_000 }).toContain("/new");
  expect(pathsOf(heard)).toEqual(["/1", "/new"]);
  stop();
});
