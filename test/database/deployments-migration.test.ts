import { readFile } from "node:fs/promises";
import path from "node:path";
import { PgBoss } from "pg-boss";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LOG_BUCKET } from "../../domain/apps/app-resources.ts";
import { listProcedures } from "../../domain/procedures/list-procedures.ts";
import { mintToken } from "../../domain/tokens/mint-token.ts";
import { openMigrator } from "../../server/database/migrate.ts";
import { openOrm } from "../../server/database/orm.ts";
import { FilesystemObjectStore } from "../../server/drivers/object-store/filesystem.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { createEmptyDatabase } from "../support/service/test-databases.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const BEFORE = "Migration20261121054539_retention";
const ORGANIZATION = "0a000000-0000-4000-8000-000000000000";
const appId = (number: number) => `a0000000-0000-4000-8000-00000000000${number}`;
const deploymentId = (number: number) => `b0000000-0000-4000-8000-00000000000${number}`;
const [SHOP, BROKEN, HELLO, LEAVING, UNBUILT] = [1, 2, 3, 4, 5];

const stack = new AsyncDisposableStack();
let harness: Harness;
let rest: RestClient;

/** Starts the service on an installation of the version before: its records, its queue and its logs. */
beforeAll(async () => {
  const { databaseUrl } = stack.use(await createEmptyDatabase());
  const { path: dataDirectory } = stack.use(await temporaryFolder());
  await createOldRecords(databaseUrl);
  await createOldQueue(databaseUrl);
  const logs = new FilesystemObjectStore(path.join(dataDirectory, "objects"));
  for (const app of [SHOP, BROKEN, HELLO, LEAVING])
    await logs.put(LOG_BUCKET, `${appId(app)}.log`, new TextEncoder().encode(`[service] log of ${app}\n`));
  harness = stack.use(await createHarness({ worker: true, config: { databaseUrl, dataDirectory } }));
  rest = new RestClient(harness.service.publicUrl, await issueApiKey());
});

afterAll(() => stack.disposeAsync());

async function createOldRecords(databaseUrl: string): Promise<void> {
  const orm = openOrm(databaseUrl);
  try {
    await (await openMigrator(orm)).up({ to: BEFORE });
    await orm.em.fork().execute(await readFile(path.join(import.meta.dirname, "before-deployments.sql"), "utf8"));
  } finally {
    await orm.close();
  }
}

/** A job for the unfinished build in a queue of its old name, and a sweep that ran a moment ago. */
async function createOldQueue(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({ connectionString: databaseUrl, schema: "jobs", schedule: false });
  await boss.start();
  for (const queue of ["build", "sweep"]) await boss.createQueue(queue);
  await boss.send("build", { buildId: deploymentId(HELLO) });
  await boss.send("sweep", {}, { singletonKey: "sweep", singletonSeconds: 60 });
  const [sweep] = await boss.fetch("sweep");
  await boss.complete("sweep", sweep?.id ?? "");
  await boss.stop({ graceful: false, close: true });
}

async function issueApiKey(): Promise<string> {
  const em = harness.service.parts.orm.em.fork();
  const { token } = mintToken(em, { kind: "api_key", name: "old", orgId: ORGANIZATION, userId: null });
  await em.flush();
  return token;
}

const execute = (statement: string): Promise<unknown> => harness.service.parts.orm.em.fork().execute(statement);

test("the builds of an older version become deployments with the same ids, texts and times", async () => {
  const rows = await execute(
    `select id, app_id, org_id, number, trigger, repo, branch, commit, customization, created_by, status, status_message,
       error, log_key, attempts, fencing_token, lease_renewed_at, created_at, started_at, finished_at
     from deployments where app_id in ('${appId(SHOP)}', '${appId(BROKEN)}') order by id`,
  );
  const same = { org_id: ORGANIZATION, number: 1, trigger: "deploy", lease_renewed_at: null, started_at: null };
  expect(JSON.parse(JSON.stringify(rows))).toEqual([
    {
      ...same,
      id: deploymentId(SHOP),
      app_id: appId(SHOP),
      repo: "acme/shop",
      branch: "main",
      commit: "88a85ed43b4949e007893856de2c849d800586ad",
      customization: "Make it blue.",
      created_by: "0b000000-0000-4000-8000-000000000000",
      status: "ready",
      status_message: "The app is live. Two procedures were left out.",
      error: null,
      log_key: `${appId(SHOP)}.log`,
      attempts: 2,
      fencing_token: 3,
      created_at: expect.stringMatching(/^2026-11-01.10:00:00.124/),
      finished_at: expect.stringMatching(/^2026-11-01.10:00:09.457/),
    },
    {
      ...same,
      id: deploymentId(BROKEN),
      app_id: appId(BROKEN),
      repo: "acme/broken",
      branch: "next",
      commit: "bd26e502d00a0ee7be03db502c858b3af0b56749",
      customization: null,
      created_by: null,
      status: "failed",
      status_message: "Correct the build script.",
      error: "The build ended with code 7.",
      log_key: `${appId(BROKEN)}.log`,
      attempts: 1,
      fencing_token: 1,
      created_at: expect.stringMatching(/^2026-11-02/),
      finished_at: expect.stringMatching(/^2026-11-02/),
    },
  ]);
});

test("every app of an older version has a newest deployment, and a live one if it was ready", async () => {
  const rows = await execute(
    `select apps.id, latest.number, latest.status, live_deployment_id = latest_deployment_id as is_live
     from apps join deployments latest on latest.id = latest_deployment_id
     where apps.id in ('${appId(SHOP)}', '${appId(BROKEN)}', '${appId(UNBUILT)}') order by apps.id`,
  );
  expect(rows).toEqual([
    { id: appId(SHOP), number: 1, status: "ready", is_live: true },
    { id: appId(BROKEN), number: 1, status: "failed", is_live: null },
    { id: appId(UNBUILT), number: 1, status: "ready", is_live: true },
  ]);
});

test("apps of an older version look as before in the REST API, with their logs", async () => {
  const { body: shop } = await rest.get(`/v1/apps/${appId(SHOP)}`);
  expect(shop).toMatchObject({
    name: "shop",
    slug: "shop-k7m2xq",
    status: "ready",
    status_message: "The app is live. Two procedures were left out.",
    error: null,
    manifest: { framework: "hono" },
    created_at: "2026-11-01T10:00:00.123Z",
    updated_at: "2026-11-01T10:00:09.456Z",
  });
  expect((await rest.get(`/v1/apps/${appId(BROKEN)}/logs`)).body).toEqual({
    status: "failed",
    status_message: "Correct the build script.",
    error: "The build ended with code 7.",
    logs: `[service] log of ${BROKEN}\n`,
  });
});

test("the procedures of an older version's live app can still be called", async () => {
  const { value: procedures } = await listProcedures(harness.service.parts.db, ORGANIZATION);
  expect(procedures.map(({ slug, name }) => `${slug} ${name}`)).toEqual(["shop-k7m2xq order"]);
});

test("a build that the upgrade interrupted continues at once and appends to its log", async () => {
  const { body } = await harness.waitForStatus({ rest }, appId(HELLO));
  expect(body).toMatchObject({ status: "ready", error: null });
  const { body: log } = await rest.get(`/v1/apps/${appId(HELLO)}/logs`);
  expect(log["logs"]).toMatch(/^\[service\] log of 3\n\[service\] attempt 2 of 3\n[^]*\[service\] ready\n$/);
});

test("a deletion that the upgrade interrupted is finished, with the log under its old key", async () => {
  await expect.poll(async () => (await rest.get(`/v1/apps/${appId(LEAVING)}`)).status).toBe(404);
  const { objects } = harness.service.parts.deploymentDeps;
  expect(await objects.get(LOG_BUCKET, `${appId(LEAVING)}.log`)).toBeNull();
});

test("an app of an older version can be deleted, with its log under the old key and its procedures", async () => {
  const response = await rest.delete(`/v1/apps/${appId(SHOP)}`);
  expect([response.status, response.body]).toEqual([200, { status: "deleted" }]);
  const { objects } = harness.service.parts.deploymentDeps;
  expect(await objects.get(LOG_BUCKET, `${appId(SHOP)}.log`)).toBeNull();
  expect(await execute(`select id from app_procedures union select id from deployments where number > 1`)).toEqual([]);
});

test("the queue of the older version is gone", async () => {
  expect(await execute("select name from jobs.queue order by name")).toEqual(
    ["commit-status", "deployment", "push", "push-poll", "rollback", "source", "sweep", "teardown", "variables"].map(
      (name) => ({
        name,
      }),
    ),
  );
});
