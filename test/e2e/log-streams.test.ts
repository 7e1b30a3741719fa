import { rm, symlink } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { followLog } from "../support/clients/log-stream.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const { harness, repositories } = repositoriesHarness();
let other: Harness;

/** Another process of the service, which shares the database and the object store with the one that builds. */
beforeAll(async () => {
  const { databaseUrl, redisUrl, tokenSecret } = harness().config;
  other = await createHarness({ config: { databaseUrl, redisUrl, tokenSecret } });
  const [folder, shared] = [other, harness()].map(({ dataDirectory }) => path.join(dataDirectory, "objects"));
  await rm(folder!, { recursive: true, force: true });
  await symlink(shared!, folder!);
});
afterAll(() => other[Symbol.asyncDispose]());

/** Deploys a project whose build prints a line every 100 ms for some seconds. */
async function deploySlowBuild(tenant: Tenant, name: string): Promise<string> {
  const repo = await Repository.create(repositories(), `acme/${name}`);
  await repo.commitFiles({
    "package.json": JSON.stringify({ scripts: { build: "sh build.sh" } }),
    "build.sh": 'for n in $(seq 25); do echo "line $n €"; sleep 0.1; done',
    "src/index.ts": 'export default { fetch: () => new Response("built") };',
  });
  const { body } = await tenant.rest.deploy({ repo: `acme/${name}` });
  return String(body["app_id"]);
}

verifies(
  [hazard(41), hazard(56)],
  "readers of a running build get every line exactly once, also in another process and after they connect again",
  async () => {
    const tenant = await harness().tenant();
    const id = await deploySlowBuild(tenant, "slow");
    const open = (reader: Harness, headers?: Record<string, string>) =>
      followLog(reader.service.publicUrl, tenant.api_key, `/v1/apps/${id}/logs?follow`, headers);
    const [here, there] = [await open(harness()), await open(other)];
    expect([there.status, there.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    await waitFor(() => expect(there.lines()).toContain("line 5 €"));
    expect((await tenant.rest.get(`/v1/apps/${id}`)).body["status"]).toBe("building");
    await there.close();
    const resumed = await open(other, { "last-event-id": there.events.at(-1)!.id });
    await Promise.all([here.ended, resumed.ended]);

    const { body } = await tenant.rest.get(`/v1/apps/${id}/logs`);
    expect(body["status"]).toBe("ready");
    const stored = String(body["logs"]).trimEnd().split("\n");
    expect(stored).toEqual(expect.arrayContaining(["line 1 €", "line 25 €", "[service] ready"]));
    expect(here.lines()).toEqual(stored);
    expect([...there.lines(), ...resumed.lines()]).toEqual(stored);
    const end = { event: "end", data: JSON.stringify({ status: "ready", status_message: null, error: null }) };
    expect([here.events.at(-1), resumed.events.at(-1)]).toEqual(
      [end, end].map((event) => expect.objectContaining(event)),
    );
    expect((await open(other, { "last-event-id": here.events.at(-1)!.id })).status).toBe(204);
  },
);

verifies(hazard(58), "the stream of an app that is deleted while it is followed ends, and says why", async () => {
  const tenant = await harness().tenant();
  const id = await deploySlowBuild(tenant, "deleted");
  const stream = await followLog(other.service.publicUrl, tenant.api_key, `/v1/apps/${id}/deployments/1/logs?follow`);
  await waitFor(() => expect(stream.lines()).toContain("line 1 €"));
  expect((await tenant.rest.delete(`/v1/apps/${id}`)).body).toEqual({ status: "deleted" });
  await stream.ended;
  expect(stream.events.at(-1)).toMatchObject({ event: "end", data: expect.stringContaining('"status":"deleting"') });
});
