import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { App } from "../../domain/apps/app.entity.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { followLog } from "../support/clients/log-stream.ts";
import { givenLiveApp } from "../support/edge/live-app.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness({ worker: true });

const SCRIPT = `export default { fetch(request) {
  const { searchParams } = new URL(request.url);
  for (const [level, message] of searchParams) console[level](message);
  return new Response("ok");
} };`;

let tenant: Tenant;
let app: App;

beforeAll(async () => {
  tenant = await service().tenant();
  app = await givenLiveApp(service(), tenant, { script: SCRIPT, procedures: [] });
});

interface RuntimeLog {
  time: string;
  level: string;
  message: string;
  request_id: string | null;
}

interface Page {
  logs: RuntimeLog[];
  next_cursor: string | null;
}

async function list(query = "", id = app.id): Promise<Page> {
  const { status, body } = await tenant.rest.get(`/v1/apps/${id}/runtime-logs${query}`);
  expect(status).toBe(200);
  return body as unknown as Page;
}

/** Lets the app print messages. */
async function print(messages: [level: string, message: string][], printing = app): Promise<void> {
  const url = service().service.parts.service.urlOf(printing.slug);
  expect((await appRequest(`${url}/?${String(new URLSearchParams(messages))}`)).status).toBe(200);
}

const texts = ({ logs }: Page) => logs.map(({ message }) => message);

verifies(
  "runtime_logs.read",
  "the messages of an app are listed newest first, in pages, and filtered by level and time",
  async () => {
    expect(await list()).toEqual({ logs: [], next_cursor: null });
    await print([
      ["debug", "one"],
      ["log", "two"],
      ["warn", "three"],
      ["error", "four"],
    ]);
    await waitFor(async () => expect(texts(await list())).toEqual(["four", "three", "two", "one"]));
    const all = await list();
    expect(all.logs.map(({ level }) => level)).toEqual(["error", "warn", "info", "debug"]);
    expect(all.logs[0]).toEqual({ ...all.logs[0], time: expect.any(String), request_id: expect.any(String) });
    expect(texts(await list("?level=warn"))).toEqual(["four", "three"]);
    const first = await list("?limit=3");
    expect(texts(first)).toEqual(["four", "three", "two"]);
    const second = await list(`?limit=3&cursor=${first.next_cursor}`);
    expect([texts(second), second.next_cursor]).toEqual([["one"], null]);
    expect((await list(`?since=${new Date(Date.now() + 60_000).toISOString()}`)).logs).toEqual([]);
    expect((await list(`?since=${all.logs.at(-1)!.time}`)).logs.length).toBe(4);
    expect((await list(`?until=${all.logs.at(-1)!.time}`)).logs).toEqual([]);
    expect((await list(`?until=${new Date(Date.now() + 60_000).toISOString()}`)).logs.length).toBe(4);
  },
);

test("400 names the invalid parameter and what is valid", async () => {
  for (const [query, message] of [
    ["level=fatal", "level: must be one of: debug, info, warn, error"],
    ["since=yesterday", "since: must be an RFC 3339 time"],
    ["limit=0", "limit"],
    ["cursor=x", "cursor: invalid cursor"],
    ["follow&level=fatal", "level: must be one of"],
  ] as const) {
    const { status, body } = await tenant.rest.get(`/v1/apps/${app.id}/runtime-logs?${query}`);
    expect([query, status, body]).toEqual([query, 400, { error: expect.stringContaining(message) }]);
  }
});

verifies(
  [hazard(33), hazard(56)],
  "the stream of an app has its new messages only, and continues without loss",
  async () => {
    const other = await service().tenant();
    const foreign = await givenLiveApp(service(), other, { script: SCRIPT, procedures: [] });
    const path = `/v1/apps/${app.id}/runtime-logs?follow`;
    const open = (query: string, headers?: Record<string, string>) =>
      followLog(service().service.publicUrl, tenant.api_key, `${path}${query}`, headers);
    const messages = (stream: { lines(): string[] }) =>
      stream.lines().map((line) => (JSON.parse(line) as RuntimeLog).message);

    await print([["log", "before"]]);
    await waitFor(async () => expect(texts(await list())).toContain("before"));
    const since = (await list()).logs[0]!.time;
    const [all, warnings, earlier] = [await open(""), await open("&level=warn"), await open(`&since=${since}`)];
    await print([["log", "foreign"]], foreign);
    await print([
      ["log", "first"],
      ["warn", "second"],
    ]);
    await waitFor(() => expect(messages(all)).toEqual(["first", "second"]));
    await waitFor(() => expect(messages(warnings)).toEqual(["second"]));
    await waitFor(() => expect(messages(earlier)).toEqual(["before", "first", "second"]));
    await all.close();
    await print([["log", "third"]]);
    const resumed = await open("", { "last-event-id": all.events[0]!.id });
    await waitFor(() => expect(messages(resumed)).toEqual(["second", "third"]));
    for (const stream of [warnings, earlier, resumed]) await stream.close();
    for (const id of [foreign.id, randomUUID()])
      expect((await tenant.rest.get(`/v1/apps/${id}/runtime-logs?follow`)).body).toEqual({ error: "App not found" });
  },
);

verifies(hazard(57), "the stream of an app that is deleted ends, and its messages are removed", async () => {
  const deleted = await givenLiveApp(service(), tenant, { script: SCRIPT, procedures: [] });
  await print([["log", "hello"]], deleted);
  await waitFor(async () => expect(texts(await list("", deleted.id))).toEqual(["hello"]));
  const path = `/v1/apps/${deleted.id}/runtime-logs?follow`;
  const stream = await followLog(service().service.publicUrl, tenant.api_key, path);
  expect((await tenant.rest.delete(`/v1/apps/${deleted.id}`)).status).toBe(200);
  await stream.ended;
  expect(stream.events.map(({ event, data }) => [event, data])).toEqual([["end", '{"status":"deleting"}']]);
  expect((await tenant.rest.get(path)).status).toBe(404);
  const stored = service().service.parts.service.runtimeLogs;
  expect(await stored.read({ id: deleted.id, slug: deleted.slug })).toEqual([]);
});
