import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { deploymentLogKey } from "../../domain/apps/app-resources.ts";
import type { AppStatus } from "../../domain/apps/app-status.ts";
import { DeploymentLog } from "../../domain/deployments/deployment-log.ts";
import { followLog, type ReceivedStream } from "../support/clients/log-stream.ts";
import { fakeIntervals } from "../support/fake-intervals.ts";
import { createHarness, type Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness();

/** An app whose first deployment has a log. Tests append to it as a worker does. */
async function givenLoggedApp(tenant: Tenant, status: AppStatus = "building") {
  const { deploymentDeps } = service().service.parts;
  const app = await service().givenApp(tenant, { status });
  const onStored = () => deploymentDeps.logChanges.announce(app.latestDeploymentId);
  const { objects } = deploymentDeps;
  const log = await DeploymentLog.open({ objects, key: deploymentLogKey(app.id, 1), secrets: [], onStored });
  const em = service().service.parts.orm.em.fork();
  const finish = async (): Promise<void> => {
    await log.close();
    await em.execute("update deployments set status = 'ready' where id = ?", [app.latestDeploymentId]);
    onStored();
  };
  return { id: app.id, log, finish, path: `/v1/apps/${app.id}/logs?follow` };
}

const follow = (tenant: Tenant, path: string, headers?: Record<string, string>): Promise<ReceivedStream> =>
  followLog(service().service.publicUrl, tenant.api_key, path, headers);

test("a stream of a finished deployment has the whole log and the end, for the app and for the number", async () => {
  const tenant = await service().tenant();
  const app = await givenLoggedApp(tenant, "failed");
  app.log.say("one");
  app.log.output(new TextEncoder().encode("\n two\n"));
  await app.log.close();
  for (const path of [app.path, `/v1/apps/${app.id}/deployments/1/logs?follow=true`]) {
    const stream = await follow(tenant, path);
    await stream.ended;
    expect(stream.lines()).toEqual(["[service] one", "", " two"]);
    expect(JSON.parse(stream.events.at(-1)!.data)).toEqual({ status: "failed", status_message: null, error: null });
    const resumed = await follow(tenant, path, { "last-event-id": stream.events[1]!.id });
    await resumed.ended;
    expect(resumed.events).toEqual(stream.events.slice(2));
  }
  for (const query of ["", "?follow=false"])
    expect((await tenant.rest.get(`/v1/apps/${app.id}/logs${query}`)).body["logs"]).toBe("[service] one\n\n two\n");
  const head = await tenant.rest.send("HEAD", app.path, {});
  expect([head.status, head.headers.get("content-type"), head.text]).toEqual([200, "text/event-stream", ""]);
});

test("204 keeps a browser that has the end of a log from connecting again, and an empty Last-Event-ID counts as absent", async () => {
  const tenant = await service().tenant();
  const app = await givenLoggedApp(tenant, "failed");
  app.log.say("one");
  await app.log.close();
  const stream = await follow(tenant, app.path, { "last-event-id": "" });
  await stream.ended;
  expect(stream.events.map(({ event }) => event)).toEqual(["message", "end"]);
  const again = await tenant.rest.get(app.path, { "last-event-id": stream.events.at(-1)!.id });
  expect([again.status, again.text]).toEqual([204, ""]);
});

test("proxies neither store nor delay a stream, and get a comment every 15 seconds while the log is silent", async () => {
  fakeIntervals();
  await using harness = await createHarness();
  const tenant = await harness.tenant();
  const { id } = await harness.givenApp(tenant, { status: "building" });
  const headers = { authorization: `Bearer ${tenant.api_key}` };
  const { body, headers: sent } = await fetch(`${harness.service.publicUrl}/v1/apps/${id}/logs?follow`, { headers });
  expect([sent.get("cache-control"), sent.get("x-accel-buffering")]).toEqual(["no-store", "no"]);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let interval = 0; interval < 3; interval++) {
    expect((await reader.read()).value).toBe(": keep-alive\n\n");
    vi.advanceTimersByTime(15_000);
  }
  await reader.cancel();
});

verifies(
  ["rest.logs.404.foreign", hazard(33)],
  "404 hides the stream of another organization's app, and of an app that does not exist",
  async () => {
    const [tenant, other] = [await service().tenant(), await service().tenant()];
    const app = await givenLoggedApp(other);
    for (const suffix of ["logs", "deployments/1/logs"]) {
      const [foreign, absent, malformed] = await Promise.all(
        [app.id, randomUUID(), "nothing"].map((id) => tenant.rest.get(`/v1/apps/${id}/${suffix}?follow`)),
      );
      expect([foreign!.status, foreign!.text]).toEqual([404, absent!.text]);
      expect([malformed!.status, malformed!.text]).toEqual([404, absent!.text]);
    }
    expect((await tenant.rest.as(null).get(app.path)).status).toBe(401);
    await app.log.close();
  },
);

test("400 explains an invalid follow or Last-Event-ID", async () => {
  const tenant = await service().tenant();
  const app = await givenLoggedApp(tenant, "ready");
  const invalid = await tenant.rest.get(`/v1/apps/${app.id}/logs?follow=maybe`);
  expect([invalid.status, invalid.body]).toEqual([400, { error: "follow: must be true or false, or have no value." }]);
  for (const id of ["x", "1", "1-", "0-1", "1-1e9", "-1"]) {
    const response = await tenant.rest.get(app.path, { "last-event-id": id });
    expect([id, response.status, response.text]).toEqual([
      id,
      400,
      expect.stringContaining("Last-Event-ID: invalid id"),
    ]);
  }
  // The id of another deployment: the newest one has a log of its own.
  const stream = await follow(tenant, app.path, { "last-event-id": "7-100" });
  await stream.ended;
  expect(stream.events.map(({ event }) => event)).toEqual(["end"]);
});

verifies(hazard(56), "200 readers of one log read it together, and each gets every line once", async () => {
  const tenant = await service().tenant();
  const app = await givenLoggedApp(tenant);
  const { objects } = service().service.parts.service;
  const get = objects.get.bind(objects);
  let reads = 0;
  objects.get = (...key) => {
    reads += 1;
    return get(...key);
  };
  const streams = await Promise.all(Array.from({ length: 200 }, () => follow(tenant, app.path)));
  const readsOfOpening = reads;
  for (let n = 0; n < 5; n++) {
    app.log.say(`line ${n}`);
    await app.log.flush();
  }
  await app.finish();
  await Promise.all(streams.map(({ ended }) => ended));
  objects.get = get;
  const expected = Array.from({ length: 5 }, (_, n) => `[service] line ${n}`);
  for (const stream of streams) expect(stream.lines()).toEqual(expected);
  expect(reads - readsOfOpening).toBeLessThan(30);
});

test("429 tells an organization with too many streams when to retry, and a closed stream makes room", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const [app, others] = [await givenLoggedApp(tenant), await givenLoggedApp(other)];
  // A HEAD leaves no stream open.
  await Promise.all(Array.from({ length: 256 }, () => tenant.rest.send("HEAD", app.path, {})));
  const streams = await Promise.all(Array.from({ length: 256 }, () => follow(tenant, app.path)));
  const rejected = await tenant.rest.get(app.path);
  expect([rejected.status, rejected.headers.get("retry-after"), rejected.body]).toEqual([
    429,
    "5",
    { error: "Your organization has 256 open streams, which is the limit. Close some, then try again." },
  ]);
  const accepted = await follow(other, others.path);
  expect(accepted.status).toBe(200);
  await streams[0]!.close();
  await waitFor(async () => {
    streams.push(await follow(tenant, app.path));
    expect(streams.at(-1)?.status).toBe(200);
  });
  await Promise.all([app.finish(), others.finish()]);
  await Promise.all([...streams, accepted].map(({ ended }) => ended));
});

verifies(hazard(29), "a stream ends when its token is revoked, and streams of other tokens stay open", async () => {
  const tenant = await service().tenant();
  const app = await givenLoggedApp(tenant);
  const { body } = await tenant.rest.post("/v1/tokens", { kind: "api_key", name: "Revoked" });
  const revoked = await followLog(service().service.publicUrl, String(body["token"]), app.path);
  const kept = await follow(tenant, app.path);
  expect((await tenant.rest.delete(`/v1/tokens/${String(body["id"])}`)).status).toBe(200);
  await revoked.ended;
  app.log.say("after");
  await waitFor(() => expect(kept.lines()).toEqual(["[service] after"]));
  expect(revoked.events).toEqual([]);
  await app.finish();
  await kept.ended;
});

test("a stream stays open while the database cannot tell whether its token is valid", async () => {
  const { parts } = service().service;
  const tenant = await service().tenant();
  const app = await givenLoggedApp(tenant);
  const stream = await follow(tenant, app.path);
  const em = parts.orm.em.fork();
  await em.execute(`
    alter table machine_tokens rename to stored_tokens;
    create sequence failed_reads;
    create function stop_session() returns boolean language plpgsql as
      $$ begin perform nextval('failed_reads'); raise exception 'the database stops' using errcode = '57P01'; end $$;
    create view machine_tokens as select * from stored_tokens where stop_session()`);
  try {
    parts.service.accessChanges.announce(tenant.org_id);
    // The check of the stream has failed before the table is back. A sequence keeps its value when a statement fails.
    await expect.poll(() => em.execute("select is_called from failed_reads")).toEqual([{ is_called: true }]);
    expect((await tenant.rest.get("/v1/apps")).status).toBe(503);
  } finally {
    await em.execute("drop view machine_tokens; alter table stored_tokens rename to machine_tokens");
  }
  app.log.say("after");
  await waitFor(() => expect(stream.lines()).toEqual(["[service] after"]));
  await app.finish();
  await stream.ended;
});

test("the service stops while streams are open, and their clients can continue later", async () => {
  const harness = await createHarness();
  const tenant = await harness.tenant();
  const app = await harness.givenApp(tenant, { status: "building" });
  const { publicUrl } = harness.service;
  const streams = await Promise.all(
    ["logs", "runtime-logs"].map((name) => followLog(publicUrl, tenant.api_key, `/v1/apps/${app.id}/${name}?follow`)),
  );
  await Promise.all([harness[Symbol.asyncDispose](), ...streams.map(({ ended }) => ended)]);
  expect(streams.map(({ status, events }) => [status, events])).toEqual([
    [200, []],
    [200, []],
  ]);
});
