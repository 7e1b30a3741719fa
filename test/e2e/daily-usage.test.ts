import { expect } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const { harness, repositories } = repositoriesHarness();

const SOURCE = `export default {
  fetch: ({ url }) => new Response("done", { status: Number(new URL(url).pathname.slice(1)) }),
};`;

verifies("usage.daily", "requests to an app are counted by its day, with those that it failed", async () => {
  const tenant = await harness().tenant();
  const repo = await Repository.create(repositories(), "acme/counted");
  await repo.commitFiles({ "src/index.ts": SOURCE });
  const { app_id: id, url } = (await tenant.rest.deploy({ repo: "acme/counted" })).body;
  expect((await harness().waitForStatus(tenant, String(id))).body["status"]).toBe("ready");
  for (const status of [200, 404, 500, 503]) expect((await appRequest(`${String(url)}/${status}`)).status).toBe(status);
  const { usageCounter, db } = harness().service.parts.service;
  await waitFor(async () => {
    await usageCounter.flush(db);
    const { apps } = (await tenant.rest.get("/v1/usage/daily?days=2")).body;
    expect(apps).toMatchObject([{ app_id: id, requests: 4, errors: 2 }]);
  });
});
