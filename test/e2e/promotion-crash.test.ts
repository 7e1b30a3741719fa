import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { createInstallation, type Installation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** A page among enough files that the service is killed while it copies them. */
const site = (text: string) => ({
  "index.html": text,
  ...Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`files/${at}.txt`, `${text} ${at}`])),
});

/** When the service is killed after it has accepted a promotion: at once, or when the deployment has begun this step. */
const MOMENTS = ["accepted", "store", "provision", "publish"] as const;

/** The tests run concurrently, because most of their time they wait until the lease of a killed process expires. */
const CONCURRENT = { concurrent: true };

const detailOf = async ({ rest }: ServiceProcess, id: string, number: number) =>
  (await rest.get(`/v1/apps/${id}/deployments/${number}`)).body;

async function untilReady(service: ServiceProcess, id: string, number: number): Promise<void> {
  await waitFor(async () => {
    expect(await detailOf(service, id, number)).toMatchObject({ status: "ready", is_live: true, error: null });
  });
}

async function untilStep(service: ServiceProcess, id: string, number: number, moment: string): Promise<void> {
  await waitFor(async () => {
    const { steps, status } = (await detailOf(service, id, number)) as { steps: { name: string }[]; status: string };
    // A short step may have passed between two looks.
    expect(moment === "accepted" || status === "ready" || steps.some(({ name }) => name === moment)).toBe(true);
  });
}

/** The folders of the bundles of an app, without the numbers of their attempts. */
async function bundlesOf({ dataDirectory }: Installation, id: string): Promise<string[]> {
  const names = await readdir(path.join(dataDirectory, "objects", `artifacts-${id}`)).catch(() => []);
  // The store writes a sign before the name of each folder.
  return names.map((name) => /\d+/.exec(name)?.[0] ?? name).toSorted();
}

async function startWithApp(installation: Installation, folder: string) {
  const plans = path.join(folder, "plans.json");
  await writeFile(plans, JSON.stringify({ test: { apps: 10, deploys: { limit: 100, window_seconds: 60 } } }));
  const env = { GIT_BASE_URL: pathToFileURL(folder).href, PLANS_FILE: plans, PLAN_DEFAULT: "test" };
  const service = await installation.start(env);
  const { body: app } = await service.rest.deploy({ repo: "acme/site" });
  const id = String(app["app_id"]);
  await untilReady(service, id, 1);
  const { body: staging } = await service.rest.post(`/v1/apps/${id}/environments`, { name: "staging", branch: "next" });
  const stagingId = String(staging["app_id"]);
  await untilReady(service, stagingId, 1);
  return { env, service, id, url: String(app["url"]), stagingId, stagingUrl: String(staging["url"]) };
}

verifies(
  ["environments.promote", hazard(41), hazard(42)],
  "a service that is killed after it has accepted a promotion completes it exactly once, and leaves nothing else",
  async () => {
    await using folder = await temporaryFolder();
    await using installation = await createInstallation();
    const repository = await Repository.create(folder.path, "acme/site");
    await repository.commitFiles(site("main"));
    await repository.commitFiles(site("first"), "next");
    const { env, id, stagingId, ...started } = await startWithApp(installation, folder.path);
    let { service } = started;
    const text = async (of: string) =>
      (await appRequest(String((await service.rest.get(`/v1/apps/${of}`)).body["url"]))).text;
    for (const [at, moment] of MOMENTS.entries()) {
      const number = at + 2;
      const commit = await repository.commitFiles(site(moment), "next");
      await service.rest.post(`/v1/apps/${stagingId}/deployments`, {});
      await untilReady(service, stagingId, number);
      const promote = () =>
        service.rest.post(`/v1/apps/${id}/promote`, { from: "staging" }, { "idempotency-key": `promotion-${moment}` });
      const { body: accepted } = await promote();
      expect(accepted).toMatchObject({ number, trigger: "promotion", commit });
      await untilStep(service, id, number, moment);
      await service.end("SIGKILL");
      service = await installation.start(env);
      // The caller did not see the response, and repeats the request.
      expect((await promote()).body["id"]).toBe(accepted["id"]);
      await untilReady(service, id, number);
      expect([await text(id), await text(stagingId)]).toEqual([moment, moment]);
      expect(await detailOf(service, id, number)).toMatchObject({ commit, promoted_from: "staging" });
    }
    const { body } = await service.rest.get(`/v1/apps/${id}/deployments`);
    const deployments = body["deployments"] as { number: number; trigger: string }[];
    expect(deployments.map(({ number, trigger }) => [number, trigger])).toEqual([
      ...MOMENTS.map((_, at) => [at + 2, "promotion"]).toReversed(),
      [1, "deploy"],
    ]);
    // One bundle for each, without those of the killed attempts.
    await waitFor(async () => expect(await bundlesOf(installation, id)).toEqual(["1", "2", "3", "4", "5"]));
    await service.rest.post(`/v1/apps/${id}/rollback`, { number: 2 });
    await untilReady(service, id, 6);
    expect(await text(id)).toBe("accepted");
    await service.end("SIGTERM");
  },
  CONCURRENT,
);

verifies(
  ["environments.promote", hazard(60)],
  "a promotion whose environment is deleted, and whose service is killed, ends, and production serves",
  async () => {
    await using folder = await temporaryFolder();
    await using installation = await createInstallation();
    const repository = await Repository.create(folder.path, "acme/site");
    await repository.commitFiles(site("main"));
    await repository.commitFiles(site("next"), "next");
    const { env, service: first, id, stagingId } = await startWithApp(installation, folder.path);
    await first.rest.post(`/v1/apps/${id}/promote`, { from: "staging" });
    const deletion = first.rest.delete(`/v1/apps/${stagingId}`).catch(() => undefined);
    await untilStep(first, id, 2, "store").catch(() => undefined);
    await first.end("SIGKILL");
    await deletion;
    const service = await installation.start(env);
    const ended = async () => (await detailOf(service, id, 2))["status"];
    await waitFor(async () => expect(["ready", "failed"]).toContain(await ended()));
    const { body } = await service.rest.get(`/v1/apps/${id}`);
    expect((await appRequest(String(body["url"]))).text).toBe((await ended()) === "ready" ? "next" : "main");
    await waitFor(async () => {
      const gone = await service.rest.delete(`/v1/apps/${stagingId}`);
      expect(gone.status).toBe(404);
    });
    expect(await bundlesOf(installation, stagingId)).toEqual([]);
    await waitFor(async () =>
      expect(await bundlesOf(installation, id)).toEqual((await ended()) === "ready" ? ["1", "2"] : ["1"]),
    );
    expect((await service.rest.delete(`/v1/apps/${id}`)).body).toEqual({ status: "deleted" });
    expect(await bundlesOf(installation, id)).toEqual([]);
    await service.end("SIGTERM");
  },
  CONCURRENT,
);
