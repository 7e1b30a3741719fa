import { afterAll, beforeAll, expect } from "vitest";
import { createClient, type OrganizationEvent } from "../../clients/sdk/src/client.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { followLog } from "../support/clients/log-stream.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const { harness, repositories } = repositoriesHarness();
let other: Harness;

/** Another process of the service, which shares the database with the one that builds. */
beforeAll(async () => {
  const { databaseUrl, redisUrl, tokenSecret } = harness().config;
  other = await createHarness({ config: { databaseUrl, redisUrl, tokenSecret } });
});
afterAll(() => other[Symbol.asyncDispose]());

const STEPS = ["queued", "cloning", "building", "provisioning"];

verifies(
  "events.read",
  "a client sees each status of a deployment and of its app, in another process too, until the app is deleted",
  async () => {
    const tenant = await harness().tenant();
    const repo = await Repository.create(repositories(), "acme/followed");
    await repo.commitFiles({ "src/index.ts": 'export default { fetch: () => new Response("built") };' });
    const there = await followLog(other.service.publicUrl, tenant.api_key, "/v1/events?follow");
    const { publicUrl } = harness().service;
    const client = createClient({ url: publicUrl, token: tenant.api_key });
    const closing = new AbortController();
    const here: OrganizationEvent[] = [];
    const reading = (async () => {
      for await (const event of client.followEvents({ signal: closing.signal })) here.push(event);
    })().catch(() => undefined);
    await waitFor(() => expect(here).toEqual([{ type: "reset" }]));

    const id = String((await tenant.rest.deploy({ repo: "acme/followed" })).body["app_id"]);
    expect((await harness().waitForStatus(tenant, id)).body["status"]).toBe("ready");
    expect((await tenant.rest.delete(`/v1/apps/${id}`)).status).toBe(200);
    const isDeleted = (event: OrganizationEvent) => event.type === "app" && event.status === "deleted";
    const parsed = () =>
      there.events.map(({ event, data }) => ({ type: event, ...(JSON.parse(data) as object) }) as OrganizationEvent);
    for (const events of [() => here, parsed]) {
      await waitFor(() => expect(events().some(isDeleted)).toBe(true));
      expect(changesOf(events(), "deployment")).toEqual([...STEPS, "ready"]);
      expect(changesOf(events(), "app")).toEqual([...STEPS, "ready", "deleting", "deleted"]);
    }
    closing.abort();
    await reading;
    await there.close();
  },
);

/** The statuses of the events of a type, without those that repeat the one before. */
function changesOf(events: readonly OrganizationEvent[], type: "app" | "deployment"): string[] {
  const statuses = events.flatMap((event) => (event.type === type ? [event.status] : []));
  return statuses.filter((status, at) => status !== statuses[at - 1]);
}
