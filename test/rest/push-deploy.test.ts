import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { asForm, givenDelivery } from "../support/builds/push-deliveries.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import type { RestClient } from "../support/clients/rest-client.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

async function givenApp() {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant);
  return { tenant, path: `/v1/apps/${id}` };
}

const put = (rest: RestClient, path: string, body: object) =>
  rest.send("PUT", `${path}/push-deploy`, {
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

verifies("push.deploy", "the secret is in the response that creates it, and in no other one", async () => {
  const { tenant, path } = await givenApp();
  const off = { enabled: false, url: null, secret: null, branch: "main", paths: [], statuses: true, poll: false };
  expect((await tenant.rest.get(`${path}/push-deploy`)).body).toEqual(off);
  expect((await tenant.rest.post(`${path}/push-deploy/rotate-secret`, {})).status).toBe(409);
  const { body: created } = await put(tenant.rest, path, { enabled: true, paths: ["src/**"] });
  const url = `${service().service.publicUrl}/hooks/git/`;
  expect(created).toMatchObject({ enabled: true, url: expect.stringContaining(url), paths: ["src/**"] });
  expect(created["secret"]).toMatch(/^[0-9a-f]{64}$/);
  const { body: changed } = await put(tenant.rest, path, { enabled: true, branch: "next" });
  expect(changed).toEqual({ ...created, branch: "next", secret: null });
  expect((await tenant.rest.get(`${path}/push-deploy`)).body).toEqual(changed);
  const { body: rotated } = await tenant.rest.post(`${path}/push-deploy/rotate-secret`, {});
  expect(rotated["url"]).toBe(created["url"]);
  expect(rotated["secret"]).not.toBe(created["secret"]);
  expect(service().logged()).not.toContain(created["secret"]);
});

test("branches and paths that are not allowed are refused", async () => {
  const { tenant, path } = await givenApp();
  for (const paths of [["/src"], ["a//b"], ["{a,b}"], [""], ["a/../b"], Array.from({ length: 21 }, () => "a")])
    expect((await put(tenant.rest, path, { enabled: true, paths })).body["error"]).toMatch(/^paths: /);
  expect((await put(tenant.rest, path, { enabled: true, branch: "-x" })).body["error"]).toMatch(/^branch: /);
});

test("a delivery is accepted as a form too, and its signature is that of the form", async () => {
  const { tenant, path } = await givenApp();
  const { body: push } = await put(tenant.rest, path, { enabled: true });
  const [id, secret] = [randomUUID(), String(push["secret"])];
  const { repo } = (await tenant.rest.get(path)).body;
  const delivery = givenDelivery("github", secret, id, { repo: String(repo), commit: "a".repeat(40) });
  const { headers, body } = asForm(delivery, secret, id);
  const post = (sent: string) => fetch(String(push["url"]), { method: "POST", headers, body: sent });
  expect((await post(`${body}&a=b`)).status).toBe(404);
  const accepted = await post(body);
  expect([accepted.status, await accepted.json()]).toMatchObject([202, { result: "queued" }]);
  const { body: list } = await tenant.rest.get(`${path}/push-deliveries`);
  expect(list["deliveries"]).toMatchObject([{ source: "github", commit: "a".repeat(40) }]);
});

test("another organization finds no such app", async () => {
  const [{ path }, other] = [await givenApp(), await service().tenant()];
  for (const part of ["push-deploy", "push-deliveries"])
    expect((await other.rest.get(`${path}/${part}`)).status).toBe(404);
  expect((await put(other.rest, path, { enabled: true })).status).toBe(404);
  expect((await other.rest.post(`${path}/push-deploy/rotate-secret`, {})).status).toBe(404);
});

test("an app without a repository has no branch, and pushes cannot be switched on", async () => {
  const tenant = await service().tenant();
  const deployed = await tenant.rest.deploy({ files: { "index.html": "Hello" } });
  const app = `/v1/apps/${String(deployed.body["app_id"])}`;
  expect((await tenant.rest.get(`${app}/push-deploy`)).body).toMatchObject({ enabled: false, branch: null });
  const { status, body } = await put(tenant.rest, app, { enabled: true });
  expect([status, body["error"]]).toEqual([409, expect.stringContaining("has no repository")]);
});
