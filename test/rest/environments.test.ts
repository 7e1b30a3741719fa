import { expect, test } from "vitest";
import { App } from "../../domain/apps/app.entity.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import { AppVariable } from "../../domain/variables/app-variable.entity.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

// No worker runs, so a deployment stays as it was recorded.
const service = sharedHarness();
const COMMIT = "a".repeat(40);
const em = () => service().service.parts.orm.em.fork();

async function givenApp({ plan = "scale", variables = [] }: { plan?: string; variables?: object[] } = {}) {
  const tenant = await service().tenant({ plan });
  const { body: deployed } = await tenant.rest.deploy({ repo: "acme/shop", branch: "main", variables });
  await goLive(deployed["app_id"], COMMIT);
  await em().execute("delete from rate_limit_windows");
  const app = await em().findOneOrFail(App, { id: String(deployed["app_id"]) });
  const path = `/v1/apps/${app.id}`;
  const create = (request: object, headers: Record<string, string> = {}) =>
    tenant.rest.post(`${path}/environments`, request, headers);
  const list = async (id = app.id) => {
    const { body } = await tenant.rest.get(`/v1/apps/${id}/environments`);
    return body["environments"] as Record<string, unknown>[];
  };
  return { tenant, app, path, create, list };
}

/** Makes the newest deployment of an environment live, with a bundle. */
async function goLive(appId: unknown, commit: string): Promise<void> {
  const { latestDeploymentId: id } = await em().findOneOrFail(App, { id: String(appId) });
  await em().nativeUpdate(Deployment, { id }, { status: "ready", commit, artifactKey: "1.1" });
  await em().nativeUpdate(App, { id: String(appId) }, { status: "ready", liveDeploymentId: id });
}

verifies(
  "environments.create",
  "201 an environment is an app with its own branch, and both lists show it",
  async () => {
    const { tenant, app, create, list } = await givenApp();
    await em().nativeUpdate(
      App,
      { id: app.id },
      { rootDirectory: "web", requestedRuntime: "node", gitHost: "git.test" },
    );
    const { status, body } = await create({ name: "staging", branch: "next" });
    const slug = expect.stringMatching(/^shop-staging-[a-z0-9]{6}$/);
    expect([status, body]).toEqual([
      201,
      {
        name: "staging",
        app_id: expect.any(String),
        slug,
        url: expect.stringContaining("shop-staging-"),
        status: "queued",
        status_message: null,
        branch: "next",
        live_deployment: null,
        live_commit: null,
        created_at: expect.stringMatching(/Z$/),
      },
    ]);
    const id = String(body["app_id"]);
    const { body: detail } = await tenant.rest.get(`/v1/apps/${id}`);
    const own = { environment: "staging", parent_id: app.id, name: "shop (staging)" };
    const inherited = { repo: "acme/shop", host: "git.test", root_directory: "web", requested_runtime: "node" };
    expect(detail).toMatchObject({ ...own, ...inherited, branch: "next" });
    const { apps } = (await tenant.rest.get("/v1/apps")).body as { apps: object[] };
    expect(apps).toMatchObject([own, { id: app.id, environment: null, parent_id: null }]);
    const production = { name: "production", app_id: app.id, status: "ready", branch: "main", live_deployment: 1 };
    await create({ name: "qa" });
    const listed = await list();
    expect(listed).toMatchObject([production, { name: "qa", branch: "main" }, body]);
    expect(await list(id)).toEqual(listed);
    const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
    const { structuredContent } = await gateway.tool("service_list_apps");
    expect(structuredContent["apps"]).toMatchObject([
      { environment: "qa", parent_id: app.id },
      own,
      { parent_id: null },
    ]);
  },
);

test("400 and 409 say why an environment cannot be created", async () => {
  const { tenant, app, create } = await givenApp();
  for (const name of ["Staging", "-a", "a b", "a".repeat(33), "production"]) {
    const { status, body } = await create({ name });
    expect([name, status, body["error"]]).toEqual([name, 400, expect.stringMatching(/^name: /)]);
  }
  await em().execute("delete from rate_limit_windows");
  expect((await create({ name: "staging", branch: "-x" })).body["error"]).toMatch(/^branch: /);
  const variables = [{ name: "a", value: "" }];
  expect((await create({ name: "staging", variables })).body["error"]).toMatch(/^variables\.0\.name: /);
  expect((await tenant.rest.get("/v1/apps")).body["apps"]).toHaveLength(1);
  const { body } = await create({ name: "staging" });
  const again = await create({ name: "staging" });
  const problem = `The app has an environment staging already: its app is ${String(body["slug"])}.`;
  expect([again.status, again.body["error"]]).toEqual([409, expect.stringContaining(problem)]);
  await em().execute("delete from rate_limit_windows");
  const nested = await tenant.rest.post(`/v1/apps/${String(body["app_id"])}/environments`, { name: "qa" });
  expect([nested.status, nested.body["error"]]).toEqual([409, expect.stringContaining(`production app ${app.id}`)]);
  await em().nativeUpdate(App, { id: String(body["app_id"]) }, { status: "deleting" });
  expect((await create({ name: "staging" })).body["error"]).toContain("it is being deleted");
  await em().nativeUpdate(App, { id: app.id }, { status: "deleting" });
  const deleting = await create({ name: "qa" });
  expect([deleting.status, deleting.body["error"]]).toEqual([409, expect.stringContaining("being deleted")]);
});

test("an environment gets copies of the variables, also of secret ones, and its own replace them", async () => {
  const { tenant, create } = await givenApp({
    variables: [
      { name: "GREETING", value: "hello", build: true },
      { name: "STRIPE_KEY", value: "live-key-9x", secret: true },
    ],
  });
  const variables = [
    { name: "STRIPE_KEY", value: "test-key-9x" },
    { name: "ONLY_HERE", value: "1" },
  ];
  const read = async (id: unknown) => {
    const { variables: values } = (await tenant.rest.get(`/v1/apps/${String(id)}/variables`)).body as {
      variables: object[];
    };
    const set = await service().service.parts.deploymentDeps.variables.read(String(id));
    return [values, set.values] as const;
  };
  const { body: copied } = await create({ name: "staging", variables });
  const [shown, values] = await read(copied["app_id"]);
  expect(shown).toMatchObject([
    { name: "GREETING", value: "hello", build: true },
    { name: "ONLY_HERE", value: "1", secret: false },
    { name: "STRIPE_KEY", value: null, secret: true },
  ]);
  expect(values).toEqual({ GREETING: "hello", ONLY_HERE: "1", STRIPE_KEY: "test-key-9x" });
  const { body: exact } = await create({ name: "exact" });
  expect((await read(exact["app_id"]))[1]).toEqual({ GREETING: "hello", STRIPE_KEY: "live-key-9x" });
  const { body: empty } = await create({ name: "empty", copy_variables: false });
  expect((await read(empty["app_id"]))[1]).toEqual({});
  expect(service().logged()).not.toMatch(/(live|test)-key-9x/);
});

test("409 names a variable that cannot be decrypted, and an environment without it is created", async () => {
  const { app, create } = await givenApp({ variables: [{ name: "TOKEN", value: "1" }] });
  await em().nativeUpdate(AppVariable, { appId: app.id }, { sealedValue: "damaged" });
  const { status, body } = await create({ name: "staging" });
  expect([status, body["error"]]).toEqual([409, expect.stringContaining("The variable TOKEN of the app")]);
  expect((await create({ name: "staging", variables: [{ name: "TOKEN", value: "2" }] })).status).toBe(201);
  expect((await create({ name: "qa", copy_variables: false })).status).toBe(201);
});

verifies(
  "environments.create",
  "an environment counts as an app of the plan and as a deploy, and its key makes repeating the request safe",
  async () => {
    const { tenant, create } = await givenApp({ plan: "free" });
    const key = { "idempotency-key": "environment-1" };
    const first = await create({ name: "staging" }, key);
    expect(first.headers.get("ratelimit-policy")).toContain("deploy");
    expect(await create({ name: "staging" }, key)).toMatchObject({ status: 201, body: first.body });
    expect((await create({ name: "qa" }, key)).status).toBe(422);
    const { status, body } = await createUntilRefused(create);
    expect([status, body["error"]]).toEqual([403, expect.stringMatching(/The plan "free" allows \d+ apps/)]);
    const events = `select action, target, outcome from audit_events where org_id = ? order by created_at, id limit 2`;
    expect((await em().execute<object[]>(events, [tenant.org_id]))[1]).toMatchObject({ action: "environments.create" });
  },
);

async function createUntilRefused(create: Awaited<ReturnType<typeof givenApp>>["create"]) {
  for (let at = 0; ; at++) {
    await em().execute("delete from rate_limit_windows");
    const response = await create({ name: `e${at}` });
    if (response.status !== 201) return response;
  }
}

test("an environment of an app without a repository deploys the archive of the app", async () => {
  const tenant = await service().tenant();
  const { body: app } = await tenant.rest.deploy({ files: { "index.html": "Hello" }, name: "page" });
  const path = `/v1/apps/${String(app["app_id"])}`;
  const { archive } = (await tenant.rest.get(path)).body;
  const refused = await tenant.rest.post(`${path}/environments`, { name: "staging", branch: "next" });
  expect([refused.status, refused.body["error"]]).toEqual([400, expect.stringMatching(/^branch: is of a repository/)]);
  const { body: staging } = await tenant.rest.post(`${path}/environments`, { name: "staging" });
  const own = { archive, repo: null, branch: null, name: "page (staging)" };
  expect((await tenant.rest.get(`/v1/apps/${String(staging["app_id"])}`)).body).toMatchObject(own);
});

test("of simultaneous requests, one creates an environment, and none creates one of an app that is being deleted", async () => {
  const { tenant, app, create, list } = await givenApp();
  const statuses = await Promise.all([1, 2, 3, 4].map(async () => (await create({ name: "staging" })).status));
  expect(statuses.toSorted()).toEqual([201, 409, 409, 409]);
  expect(await list()).toHaveLength(2);
  await em().nativeUpdate(App, { parentId: app.id }, { status: "deleting" });
  await em().execute("delete from rate_limit_windows");
  const deletion = tenant.rest.delete(`/v1/apps/${app.id}`);
  const created = (await create({ name: "qa" })).status;
  // No worker runs, so the teardown does not end.
  const deleted = (await deletion).status;
  const isDeleting = (await em().findOneOrFail(App, { id: app.id })).status === "deleting";
  expect([created, deleted, isDeleting]).toEqual(created === 201 ? [201, 409, false] : [409, 500, true]);
});

test("409 an app that has environments is not deleted, and names them", async () => {
  const { tenant, app, path, create } = await givenApp();
  const { body: staging } = await create({ name: "staging" });
  const { status, body } = await tenant.rest.delete(path);
  const named = `staging (${String(staging["slug"])})`;
  expect([status, body["error"]]).toEqual([409, `The app has environments: ${named}. Delete these apps first.`]);
  expect((await em().findOneOrFail(App, { id: app.id })).status).toBe("ready");
});

verifies("environments.promote", "201 a promotion records the source that is live in the environment", async () => {
  const { tenant, path, app, create } = await givenApp();
  const { body: staging } = await create({ name: "staging", branch: "next" });
  const promote = (request: object, headers: Record<string, string> = {}) =>
    tenant.rest.post(`${path}/promote`, request, headers);
  const early = await promote({ from: "staging" });
  expect([early.status, early.body["error"]]).toEqual([409, expect.stringContaining("Nothing is live in staging yet")]);
  await goLive(staging["app_id"], COMMIT);
  const other = await promote({ from: "staging", number: 2 });
  const problem = "Deployment 2 of staging is not live. Deployment 1 is.";
  expect([other.status, other.body["error"]]).toEqual([409, problem]);
  const key = { "idempotency-key": "promotion-1" };
  const { status, body } = await promote({ from: "staging", number: 1 }, key);
  const source = { repo: "acme/shop", branch: "next", commit: COMMIT, promoted_from: "staging", rollback_to: null };
  expect([status, body]).toMatchObject([
    201,
    { app_id: app.id, number: 2, status: "queued", trigger: "promotion", ...source },
  ]);
  expect((await promote({ from: "staging", number: 1 }, key)).body).toEqual(body);
  expect((await promote({ from: "staging" }, key)).status).toBe(422);
  expect((await tenant.rest.get(path)).body).toMatchObject({ status: "queued", branch: "main" });
  const jobs = await service().service.parts.deploymentDeps.jobs.listWaiting("rollback");
  expect(jobs.filter(({ deploymentId }) => deploymentId === body["id"])).toHaveLength(1);
});

test("404 and 409 say why an environment cannot be promoted", async () => {
  const { tenant, path, create } = await givenApp();
  const { body: staging } = await create({ name: "staging" });
  await goLive(staging["app_id"], COMMIT);
  const promote = async (from: string, at = path) => {
    const { status, body } = await tenant.rest.post(`${at}/promote`, { from });
    return [status, body["error"]];
  };
  const absent = "The app has no environment with this name. It has: production, staging.";
  expect(await promote("qa")).toEqual([404, absent]);
  expect(await promote("production")).toEqual([409, expect.stringContaining("the app is production itself")]);
  await em().nativeUpdate(Deployment, { appId: String(staging["app_id"]) }, { artifactKey: null });
  expect(await promote("staging")).toEqual([409, "Deployment 1 of staging has no kept bundle. Deploy it again."]);
  await em().nativeUpdate(App, { id: String(staging["app_id"]) }, { status: "deleting" });
  expect(await promote("staging")).toEqual([409, "The environment staging is being deleted."]);
  expect(await promote("production", `/v1/apps/${String(staging["app_id"])}`)).toEqual([409, expect.anything()]);
});

test("a deployment that was promoted is not promoted again while it is live", async () => {
  const { tenant, app, path, create } = await givenApp();
  const { body: staging } = await create({ name: "staging" });
  await goLive(staging["app_id"], COMMIT);
  await tenant.rest.post(`${path}/promote`, { from: "staging" });
  await goLive(app.id, COMMIT);
  const { status, body } = await tenant.rest.post(`${path}/promote`, { from: "staging" });
  expect([status, body["error"]]).toEqual([409, "Deployment 1 of staging is live here already."]);
});

verifies(
  hazard(33),
  "404 hides the environments of another organization, also as the source of a promotion",
  async () => {
    const [own, other] = [await givenApp(), await givenApp()];
    const { body: staging } = await other.create({ name: "staging" });
    await goLive(staging["app_id"], COMMIT);
    const hidden = { status: 404, body: { error: expect.stringMatching(/^App not found/) } };
    for (const id of [other.app.id, staging["app_id"]]) {
      expect(await own.tenant.rest.get(`/v1/apps/${String(id)}/environments`)).toMatchObject(hidden);
      expect(await own.tenant.rest.post(`/v1/apps/${String(id)}/environments`, { name: "qa" })).toMatchObject(hidden);
      expect(await own.tenant.rest.post(`/v1/apps/${String(id)}/promote`, { from: "staging" })).toMatchObject(hidden);
    }
    expect((await own.tenant.rest.post(`${own.path}/promote`, { from: "staging" })).body["error"]).toBe(
      "The app has no environment with this name. It has: production.",
    );
  },
);
