import { expect, test } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import type { RestClient } from "../support/clients/rest-client.ts";
import { openSeparateProcesses } from "../support/service/separate-processes.ts";

test("an app is deployed, read, called and deleted by processes with one role each, while each of them is killed", async () => {
  await using processes = await openSeparateProcesses();
  let edge = await processes.start("edge-1");
  const [api, otherApi] = [await processes.start("api-1"), await processes.start("api-2")];
  let worker = await processes.start("worker-1");
  const otherWorker = await processes.start("worker-2");
  const [rest, otherRest] = [await processes.client(api), await processes.client(otherApi)];

  const first = await deploy(rest);
  await expectNoApi(worker.publicUrl);
  const url = await untilReady(otherRest, first);
  expect((await appRequest(url)).status).toBe(200);

  // A worker is killed while it builds: the other one finishes the deployment.
  const second = await deploy(otherRest);
  await untilStatus(rest, second, ["building", "provisioning", "ready"]);
  await worker.end("SIGKILL");
  await untilReady(rest, second);

  // An API that is killed loses no deployment that it has accepted.
  const third = await deploy(rest);
  await api.end("SIGKILL");
  await untilReady(otherRest, third);

  // The edge is killed during a deployment: it goes live after the restart, and the other apps respond again.
  const fourth = await deploy(otherRest);
  await edge.end("SIGKILL");
  await expect(appRequest(url)).rejects.toThrow("ECONNREFUSED");
  edge = await processes.start("edge-1");
  expect((await appRequest(url)).status).toBe(200);
  await untilReady(otherRest, fourth);

  worker = await processes.start("worker-1");
  await otherWorker.end("SIGTERM");
  expect((await otherRest.get("/v1/apps")).body["apps"]).toHaveLength(4);
  for (const id of [first, second, third, fourth]) expect((await otherRest.delete(`/v1/apps/${id}`)).status).toBe(200);
  expect((await appRequest(url)).status).toBe(404);
});

test("the data and the log of an app are read through an API on another machine than the app", async () => {
  await using processes = await openSeparateProcesses();
  for (const name of ["edge-1", "worker-1"]) await processes.start(name);
  const rest = await processes.client(await processes.start("api-1"));
  const id = await deploy(rest);
  const url = await untilReady(rest, id);
  await appRequest(url);
  console.log(
    (await rest.get(`/v1/apps/${id}/database`)).text,
    (await rest.get(`/v1/apps/${id}/logs`)).text,
    (await rest.get(`/v1/apps/${id}/storage`)).text,
  );
});

/** A process without the role `api` says only whether it is ready. */
async function expectNoApi(publicUrl: string): Promise<void> {
  expect((await fetch(`${publicUrl}/readyz`)).status).toBe(200);
  expect((await fetch(`${publicUrl}/v1/apps`)).status).toBe(404);
}

async function deploy(rest: RestClient): Promise<string> {
  const { status, body } = await rest.deploy({ repo: "examples/guestbook" });
  expect(status).toBe(201);
  return String(body["app_id"]);
}

async function untilStatus(rest: RestClient, id: string, statuses: string[]): Promise<Record<string, unknown>> {
  let app: Record<string, unknown> = {};
  await expect
    .poll(async () => {
      ({ body: app } = await rest.get(`/v1/apps/${id}`));
      return [...statuses, "failed"].includes(String(app["status"]));
    })
    .toBe(true);
  expect(statuses, JSON.stringify(app)).toContain(app["status"]);
  return app;
}

/** @returns the URL of the app */
async function untilReady(rest: RestClient, id: string): Promise<string> {
  return String((await untilStatus(rest, id, ["ready"]))["url"]);
}
