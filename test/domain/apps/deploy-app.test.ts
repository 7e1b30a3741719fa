import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { deployApp } from "../../../domain/apps/deploy-app.ts";
import { getApp } from "../../../domain/apps/get-app.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const dependencies = () => service().service.parts.service;

const callerOf = ({ org_id: orgId }: Tenant, userId: string | null): Caller => {
  return { orgId, userId, role: "admin", scope: "deploy", credential: { kind: "api_key", id: "one" } };
};

/** Makes the next inserts of apps with this name fail as if their slug were taken. */
async function occupySlugs(name: string, count: number): Promise<void> {
  await em().execute(`create sequence inserts_of_${name}`);
  await em().execute(
    `create function occupy_${name}() returns trigger language plpgsql as $$ begin
       if nextval('inserts_of_${name}') <= ${count} then raise unique_violation; end if;
       return new;
     end $$`,
  );
  await em().execute(
    `create trigger occupy_${name} before insert on apps for each row when (new.name = '${name}') execute function occupy_${name}()`,
  );
}

test("a deployment whose slug is taken tries another one, three times at most", async () => {
  const tenant = await service().tenant();
  const deploy = (name: string) =>
    deployApp(dependencies(), callerOf(tenant, tenant.user_id), { repo: `acme/${name}`, branch: "main" }, null);
  await occupySlugs("twice", 2);
  const { app_id: id, slug } = await deploy("twice");
  expect(await em().findOneOrFail(App, { id })).toMatchObject({ name: "twice", slug, status: "queued" });
  await occupySlugs("thrice", 3);
  await expect(deploy("thrice")).rejects.toThrow("unique_violation");
  expect(await em().count(App, { orgId: tenant.org_id })).toBe(1);
  await em().execute("alter table apps rename to apps_unavailable");
  try {
    await expect(deploy("unavailable")).rejects.toThrow("apps");
  } finally {
    await em().execute("alter table apps_unavailable rename to apps");
  }
});

test("a deployment of the default branch is recorded as such, and one of a named branch is not, even if it is the same", async () => {
  const tenant = await service().tenant();
  for (const [request, branchIsDefault] of [
    [{}, true],
    [{ branch: "main" }, false],
  ] as const) {
    const caller = callerOf(tenant, tenant.user_id);
    const { app_id: appId } = await deployApp(dependencies(), caller, { repo: "acme/site", ...request }, null);
    expect(await em().findOneOrFail(Deployment, { appId })).toMatchObject({ branch: "main", branchIsDefault });
  }
});

test("the folder of a deployment is recorded in one form, and a network that the operator does not allow is rejected", async () => {
  const tenant = await service().tenant();
  const deploy = (request: object, buildEgress: "none" | "public" = "none") =>
    deployApp(
      { ...dependencies(), buildEgress },
      callerOf(tenant, tenant.user_id),
      { repo: "acme/site", ...request },
      null,
    );
  const { app_id: id } = await deploy({ root_directory: "apps/web/", build_network: true, runtime: "node" }, "public");
  const settings = { rootDirectory: "apps/web", buildNetwork: true, requestedRuntime: "node" };
  expect(await em().findOneOrFail(App, { id })).toMatchObject(settings);
  expect(await em().findOneOrFail(Deployment, { appId: id })).toMatchObject(settings);
  for (const request of [{ root_directory: "../up" }, { build_network: true }])
    await expect(deploy(request)).rejects.toMatchObject({ code: "invalid" });
  expect(await em().count(App, { orgId: tenant.org_id })).toBe(1);
});

test("an app shows the user who created it, unless the credential belongs to no user", async () => {
  const tenant = await service().tenant();
  for (const [userId, shown] of [
    [tenant.user_id, { user_id: tenant.user_id, created_by: tenant.user_id }],
    [null, {}],
  ] as const) {
    const caller = callerOf(tenant, userId);
    const { app_id: id } = await deployApp(dependencies(), caller, { repo: "acme/site", branch: "main" }, null);
    const { user_id, created_by, ...app } = await getApp(dependencies(), caller, id);
    expect(app).toMatchObject({ id, org_id: tenant.org_id, status: "queued" });
    expect(JSON.parse(JSON.stringify({ user_id, created_by }))).toEqual(shown);
  }
});
