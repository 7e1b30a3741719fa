import { expect } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { verifies } from "../support/verifies.ts";

const { harness, repositories } = repositoriesHarness();

verifies("deployments.steps", "the steps of a build are those that the project needs, with their times", async () => {
  const tenant = await harness().tenant();
  const repo = await Repository.create(repositories(), "acme/steps");
  const source = { "src/index.ts": 'export default { fetch: () => new Response("built") };' };
  await repo.commitFiles({ ...source, "package.json": JSON.stringify({ scripts: { build: "sleep 1" } }) });
  const id = String((await tenant.rest.deploy({ repo: "acme/steps" })).body["app_id"]);
  expect((await harness().waitForStatus(tenant, id)).body["status"]).toBe("ready");
  await repo.commitFiles({ "package.json": JSON.stringify({ scripts: { build: "exit 3" } }) });
  await tenant.rest.post(`/v1/apps/${id}/deployments`, {});
  await harness().waitForStatus(tenant, id);

  const read = async (number: number) => (await tenant.rest.get(`/v1/apps/${id}/deployments/${number}`)).body;
  const [ready, failed] = [await read(1), await read(2)];
  type Step = { name: string; started_at: string; finished_at: string };
  const [steps, failedSteps] = [ready["steps"] as Step[], failed["steps"] as Step[]];
  expect([ready["status"], steps.map(({ name }) => name)]).toEqual([
    "ready",
    ["fetch", "prepare", "build", "bundle", "inspect", "store", "provision", "publish"],
  ]);
  expect([failed["status"], failedSteps.map(({ name }) => name)]).toEqual(["failed", ["fetch", "prepare", "build"]]);
  const { started_at: start, finished_at: end } = steps.find(({ name }) => name === "build")!;
  expect(Date.parse(end) - Date.parse(start)).toBeGreaterThanOrEqual(1000);
  const [listed] = (await tenant.rest.get(`/v1/apps/${id}/deployments`)).body["deployments"] as object[];
  expect(listed).not.toHaveProperty("steps");
});
