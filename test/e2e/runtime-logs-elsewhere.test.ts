import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { followLog } from "../support/clients/log-stream.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createHarness } from "../support/service/harness.ts";
import { SERVICES } from "../support/service/test-databases.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { waitFor } from "../support/time-limits.ts";

const { harness, repositories } = repositoriesHarness();

// Without Redis, only the process that runs an app has its logs.
test.skipIf(SERVICES === null)("a process that does not run an app lists and follows what it prints", async () => {
  const { databaseUrl, redisUrl, tokenSecret } = harness().config;
  await using other = await createHarness({ config: { databaseUrl, redisUrl, tokenSecret } });
  const tenant = await harness().tenant();
  const repo = await Repository.create(repositories(), "acme/printing");
  await repo.commitFiles({
    "src/index.ts": `export default { fetch(request: Request) {
      console.log("request of " + new URL(request.url).pathname);
      return new Response("ok");
    } };`,
  });
  const { body } = await tenant.rest.deploy({ repo: "acme/printing" });
  const id = String(body["app_id"]);
  const app = (await harness().waitForStatus(tenant, id)).body;
  expect(app["status"]).toBe("ready");
  const elsewhere = new RestClient(other.service.publicUrl, tenant.api_key);
  const stream = await followLog(other.service.publicUrl, tenant.api_key, `/v1/apps/${id}/runtime-logs?follow`);
  const messagesIn = (data: unknown) => JSON.stringify(data).match(/request of \/\w+/g) ?? [];
  for (const name of ["/first", "/second"]) {
    expect((await appRequest(new URL(name, String(app["url"])).href)).status).toBe(200);
    await waitFor(() => expect(messagesIn(stream.events).at(-1)).toBe(`request of ${name}`));
  }
  const listed = await elsewhere.get(`/v1/apps/${id}/runtime-logs`);
  expect(messagesIn(listed.body["logs"])).toEqual(expect.arrayContaining(["request of /second", "request of /first"]));
  await stream.close();
  expect((await tenant.rest.delete(`/v1/apps/${id}`)).body).toEqual({ status: "deleted" });
  expect((await elsewhere.get(`/v1/apps/${id}/runtime-logs`)).status).toBe(404);
});
