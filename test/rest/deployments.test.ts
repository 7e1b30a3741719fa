import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../domain/apps/app.entity.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

/** An app whose second deployment is live, and whose first one can go live again. No worker runs further ones. */
async function givenReplacedApp() {
  const { rest, ...tenant } = await service().tenant();
  const app = await service().givenApp(tenant);
  const second = randomUUID();
  await service()
    .service.parts.orm.em.fork()
    .transactional(async (em) => {
      const first = await em.findOneOrFail(Deployment, { appId: app.id });
      const { appId, orgId, repo, branch } = first;
      const customized = { customization: "Make it blue.", logKey: `${appId}/2.log`, artifactKey: "2.2" };
      em.assign(first, { status: "superseded", artifactKey: "1.1" });
      const source = { appId, orgId, repo, branch, number: 2, trigger: "redeploy", status: "ready" } as const;
      em.create(Deployment, { ...source, ...customized, id: second });
      await em.nativeUpdate(App, { id: appId }, { latestDeploymentId: second, liveDeploymentId: second });
    });
  return { rest, path: `/v1/apps/${app.id}` };
}

test("repeating a rollback with the same Idempotency-Key returns the same deployment", async () => {
  const { rest, path } = await givenReplacedApp();
  const send = (number: number, key: string) => rest.post(`${path}/rollback`, { number }, { "idempotency-key": key });
  const [first, second] = [await send(1, "k1"), await send(1, "k1")];
  expect([first.status, first.body["number"], second.body["id"]]).toEqual([201, 3, first.body["id"]]);
  expect(await send(2, "k1")).toMatchObject({ status: 422 });
  expect(await send(1, "k 1")).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining("Idempotency-Key") },
  });
  expect((await send(1, "k2")).body).toMatchObject({ number: 4, rollback_to: 1 });
});

test("a redeploy has the customization of the newest deployment, or none", async () => {
  const { rest, path } = await givenReplacedApp();
  const redeploy = async (request: object) => (await rest.post(`${path}/deployments`, request)).body;
  expect(await redeploy({})).toMatchObject({ number: 3, customization: "Make it blue." });
  expect(await redeploy({ customization: null })).toMatchObject({ number: 4, customization: null });
  expect(await redeploy({})).toMatchObject({ number: 5, customization: null });
});

test("a number in a path or a query has decimal digits only", async () => {
  const { rest, path } = await givenReplacedApp();
  expect((await rest.get(`${path}/deployments/2`)).body).toMatchObject({ number: 2 });
  for (const number of ["0x2", "2.0", "+2", "2e0", "%202", "%20", "02x", "9999999999999999"])
    expect([number, (await rest.get(`${path}/deployments/${number}`)).status]).toEqual([number, 404]);
  for (const limit of ["0x2", "2.0", "%20", "0", "-1", "1001"])
    for (const list of ["deployments", "runtime-logs"])
      expect([limit, (await rest.get(`${path}/${list}?limit=${limit}`)).status]).toEqual([limit, 400]);
});
