import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

async function givenApp() {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant);
  const path = `/v1/apps/${id}`;
  const patch = (body: object) =>
    tenant.rest.send("PATCH", path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  return { tenant, id, path, patch };
}

verifies("apps.update", "200 changes the name and the branch, and keeps the slug, the URL and the token", async () => {
  const { tenant, path, patch } = await givenApp();
  const before = (await tenant.rest.get(path)).body;
  const renamed = await patch({ name: "Shop für alle" });
  expect(renamed.body).toEqual({ ...before, name: "Shop für alle", updated_at: expect.any(String) });
  const moved = await patch({ branch: "release" });
  expect(moved.body).toEqual({ ...renamed.body, branch: "release", updated_at: expect.any(String) });
  expect((await tenant.rest.get(path)).body).toEqual(moved.body);
  expect((await tenant.rest.get("/v1/apps")).body["apps"]).toMatchObject([{ name: "Shop für alle" }]);
});

test("a deployment without a branch deploys the new one", async () => {
  const { tenant, path, patch } = await givenApp();
  await patch({ branch: "release" });
  expect((await tenant.rest.post(`${path}/deployments`, {})).body).toMatchObject({ number: 2, branch: "release" });
});

test("200 changes the requested runtime, and null detects it again", async () => {
  const { patch } = await givenApp();
  expect((await patch({ runtime: "node" })).body).toMatchObject({ requested_runtime: "node", runtime: null });
  expect((await patch({ name: "Shop" })).body).toMatchObject({ requested_runtime: "node" });
  expect((await patch({ runtime: null })).body).toMatchObject({ requested_runtime: null });
});

test("200 changes the root directory and the network of builds, and a deployment records both", async () => {
  const { tenant, path, patch } = await givenApp();
  expect((await patch({ root_directory: "./apps//web/", build_network: false })).body).toMatchObject({
    root_directory: "apps/web",
    build_network: false,
  });
  const settings = { root_directory: "apps/web", build_network: false };
  expect((await tenant.rest.post(`${path}/deployments`, {})).body).toMatchObject(settings);
  expect((await patch({ root_directory: null })).body).toMatchObject({ root_directory: null });
  expect((await tenant.rest.get(`${path}/deployments/2`)).body).toMatchObject(settings);
});

test.each([
  [{}, "Nothing to change"],
  [{ root_directory: "" }, "Nothing to change"],
  [{ root_directory: "../shop" }, "root_directory: must be inside the repository, without `..`"],
  [{ root_directory: "apps/../../shop" }, "root_directory: must be inside the repository"],
  [{ root_directory: "/etc" }, "root_directory: must be relative to the root of the repository"],
  [{ root_directory: "apps\\web" }, "root_directory: must have `/` between folders"],
  [{ root_directory: "apps/web\n" }, "root_directory: must not contain control"],
  [{ root_directory: "x".repeat(256) }, "root_directory: must have at most 255 bytes"],
  [{ build_network: true }, "build_network: this service does not allow builds to use the network"],
  [{ build_network: "yes" }, "build_network"],
  [{ runtime: "deno" }, "runtime"],
  [{ runtime: "" }, "Nothing to change"],
  [{ name: "" }, "Nothing to change"],
  [{ name: " Shop" }, "name: must be one line"],
  [{ name: "Shop\nAdmin" }, "name: must be one line"],
  [{ name: "x".repeat(101) }, "name: must be one line"],
  [{ branch: "a b" }, "branch: must not contain spaces"],
  [{ slug: "mine" }, "slug"],
])("400 rejects %j and changes nothing", async (body, reason) => {
  const { tenant, path, patch } = await givenApp();
  const before = (await tenant.rest.get(path)).body;
  const response = await patch(body);
  expect([response.status, response.body["error"]]).toEqual([400, expect.stringContaining(reason)]);
  expect((await tenant.rest.get(path)).body).toEqual(before);
});

test("404 for an app of another organization, and 409 for one that is being deleted", async () => {
  const { id } = await givenApp();
  const tenant = await service().tenant();
  const patch = (appId: string) =>
    tenant.rest.send("PATCH", `/v1/apps/${appId}`, {
      body: JSON.stringify({ name: "Mine" }),
      headers: { "content-type": "application/json" },
    });
  expect([(await patch(id)).status, (await patch(randomUUID())).status]).toEqual([404, 404]);
  const deleting = await service().givenApp(tenant, { status: "deleting" });
  expect((await patch(deleting.id)).status).toBe(409);
});
