import { expect, test } from "vitest";
import { followLog, type ReceivedStream } from "../support/clients/log-stream.ts";
import type { Harness, Tenant } from "../support/service/harness.ts";
import { createHarness } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness();

const follow = (tenant: Tenant, at: Harness = service()): Promise<ReceivedStream> =>
  followLog(at.service.publicUrl, tenant.api_key, "/v1/events?follow");

const received = ({ events }: ReceivedStream) =>
  events.map(({ event, data }) => [event, JSON.parse(data) as Record<string, unknown>] as const);

const statusesOf = (stream: ReceivedStream, id: string) =>
  received(stream).flatMap(([event, data]) => (event === "app" && data["id"] === id ? [data["status"]] : []));

/** Writes to the database as another process may. */
const execute = (sql: string, parameters: unknown[] = []) =>
  service().service.parts.orm.em.fork().execute(sql, parameters);

verifies(
  "events.read",
  "a stream begins with reset and has each committed change of an app and of its deployments, and nothing that was rolled back",
  async () => {
    const tenant = await service().tenant();
    const stream = await follow(tenant);
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const app = await service().givenApp(tenant, { status: "building" });
    const headers = { "content-type": "application/json" };
    const renaming = { body: JSON.stringify({ name: "Renamed" }), headers };
    expect((await tenant.rest.send("PATCH", `/v1/apps/${app.id}`, renaming)).status).toBe(200);
    const em = service().service.parts.orm.em.fork();
    const failing = em.transactional(async (tx) => {
      await tx.execute("update apps set status = 'canceled' where id = ?", [app.id]);
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await execute("update deployments set status = 'failed' where app_id = ?", [app.id]);
    await execute("update apps set status = 'failed' where id = ?", [app.id]);
    await execute("delete from apps where id = ?", [app.id]);
    await waitFor(() => expect(statusesOf(stream, app.id)).toContain("deleted"));
    expect(received(stream)[0]).toEqual(["reset", {}]);
    expect(statusesOf(stream, app.id)).toEqual(["building", "building", "failed", "deleted"]);
    expect(received(stream).filter(([event]) => event === "deployment")).toEqual([
      ["deployment", { app_id: app.id, number: 1, status: "building" }],
      ["deployment", { app_id: app.id, number: 1, status: "failed" }],
    ]);
    const created = received(stream).find(([event]) => event === "app")?.[1];
    expect(created).toEqual({ id: app.id, status: "building", updated_at: app.updatedAt.toISOString() });
    await stream.close();
  },
);

verifies(hazard(33), "no event of another organization arrives", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const stream = await follow(tenant);
  const foreign = await service().givenApp(other);
  await execute("update deployments set status = 'failed' where app_id = ?", [foreign.id]);
  await execute("update apps set name = 'Changed' where id = ?", [foreign.id]);
  const own = await service().givenApp(tenant);
  await waitFor(() => expect(statusesOf(stream, own.id)).toEqual(["ready"]));
  expect(stream.events.filter(({ data }) => data.includes(foreign.id))).toEqual([]);
  await stream.close();
});

test("without a stream, the states of the apps that changed last are listed", async () => {
  const tenant = await service().tenant();
  const [first, second] = [await service().givenApp(tenant), await service().givenApp(tenant, { status: "failed" })];
  await execute("update apps set updated_at = now() + interval '1 minute' where id = ?", [first.id]);
  const { body } = await tenant.rest.get("/v1/events");
  expect(body["apps"]).toEqual([
    { id: first.id, status: "ready", updated_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) },
    { id: second.id, status: "failed", updated_at: second.updatedAt.toISOString() },
  ]);
});

test("the header Accept asks for the stream too, and follow=false does not", async () => {
  const tenant = await service().tenant();
  const accept = { accept: "text/event-stream" };
  const stream = await followLog(service().service.publicUrl, tenant.api_key, "/v1/events", accept);
  await waitFor(() => expect(received(stream)).toEqual([["reset", {}]]));
  await stream.close();
  expect((await tenant.rest.get("/v1/events?follow=false", accept)).body).toEqual({ apps: [] });
});

test("clients read again after the connection to the database was lost, and get the next events", async () => {
  const tenant = await service().tenant();
  const stream = await follow(tenant);
  await waitFor(() => expect(stream.events).toHaveLength(1));
  const [{ ended }] = (await execute(
    `select count(pg_terminate_backend(pid))::int as ended from pg_stat_activity
     where datname = current_database() and application_name = 'change feed'`,
  )) as [{ ended: number }];
  expect(ended).toBe(1);
  await waitFor(() =>
    expect(received(stream)).toEqual([
      ["reset", {}],
      ["reset", {}],
    ]),
  );
  const app = await service().givenApp(tenant);
  await waitFor(() => expect(statusesOf(stream, app.id)).toEqual(["ready"]));
  await stream.close();
});

verifies(hazard(29), "the stream of a revoked token ends, and that of another token stays open", async () => {
  const tenant = await service().tenant();
  const { body } = await tenant.rest.post("/v1/tokens", { kind: "api_key", name: "Revoked" });
  const revoked = await followLog(service().service.publicUrl, String(body["token"]), "/v1/events?follow");
  const kept = await follow(tenant);
  expect((await tenant.rest.delete(`/v1/tokens/${String(body["id"])}`)).status).toBe(200);
  await revoked.ended;
  const app = await service().givenApp(tenant);
  await waitFor(() => expect(statusesOf(kept, app.id)).toEqual(["ready"]));
  expect(statusesOf(revoked, app.id)).toEqual([]);
  await kept.close();
});

test("401 without a token, and the service stops while streams are open", async () => {
  const harness = await createHarness();
  const tenant = await harness.tenant();
  expect((await tenant.rest.as(null).get("/v1/events?follow")).status).toBe(401);
  const stream = await follow(tenant, harness);
  await waitFor(() => expect(stream.events).toHaveLength(1));
  await Promise.all([harness[Symbol.asyncDispose](), stream.ended]);
  expect(stream.events.map(({ event }) => event)).toEqual(["reset"]);
});
