import { expect, test } from "vitest";
import { appToken } from "../../domain/apps/app-token.ts";
import type { App } from "../../domain/apps/app.entity.ts";
import { Organization } from "../../domain/organizations/organization.entity.ts";
import { DEFAULT_LIMITS } from "../../domain/plans/plans.ts";
import { getUsage, type Usage } from "../../domain/usage/get-usage.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import { enforceStorage } from "../../domain/storage/enforce-storage.ts";
import { eventually, sendRequest, type RequestOptions } from "../support/edge/test-platform.ts";
import { provision } from "../support/edge/platform-resources.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { sha256Hex } from "../../domain/shared/sha256.ts";

const MEBIBYTE = 1024 * 1024;
const plans = {
  small: { ...DEFAULT_LIMITS, apps: 10, storageBytes: 2 * MEBIBYTE },
  large: { ...DEFAULT_LIMITS, apps: 10, storageBytes: 100 * MEBIBYTE },
};

/** Stores `?mb=` MiB with `PUT`, deletes everything with `DELETE`, at `/sql`, `/kv` or `/objects`. */
const SCRIPT = `
  const MEBIBYTE = 1024 * 1024;
  export default {
    async fetch(request, { DB, KV, BUCKET }) {
      const { pathname, searchParams } = new URL(request.url);
      const count = Number(searchParams.get("mb"));
      const remove = request.method === "DELETE";
      if (request.method === "GET") return new Response("hello");
      if (pathname === "/sql") {
        await DB.exec("create table if not exists blobs (data blob)");
        if (remove) await DB.exec("delete from blobs");
        for (let n = 0; n < count; n++) await DB.prepare("insert into blobs values (zeroblob(?))").bind(MEBIBYTE).run();
      }
      for (let n = 0; n < (remove ? 10 : count); n++) {
        if (pathname === "/kv") await (remove ? KV.delete("" + n) : KV.put("" + n, new Uint8Array(MEBIBYTE)));
        if (pathname === "/objects") await (remove ? BUCKET.delete("" + n) : BUCKET.put("" + n, new Uint8Array(MEBIBYTE)));
      }
      return new Response("done");
    },
  };`;
const BINDINGS = [
  { type: "d1", name: "DB", id: "declared" },
  { type: "kv_namespace", name: "KV", namespace_id: "values" },
  { type: "r2_bucket", name: "BUCKET", bucket_name: "files" },
];

interface StoredApp {
  tenant: Tenant;
  app: App;
  request(target: string, options?: RequestOptions): ReturnType<typeof sendRequest>;
  asOwner(target: string, options?: RequestOptions): ReturnType<typeof sendRequest>;
  /** Runs one pass of the measurement. */
  check(): Promise<void>;
  usage(): Promise<Usage>;
  statusMessage(): Promise<unknown>;
}

async function givenStoringApp(harness: Harness): Promise<StoredApp> {
  const { deploymentDeps, storageDeps } = harness.service.parts;
  const tenant = await harness.tenant({ plan: "small" });
  const app = await harness.givenApp(tenant, { name: "store" });
  await provision(deploymentDeps, app, SCRIPT, { bindings: BINDINGS });
  const token = appToken(deploymentDeps.tokenSecret, app);
  await deploymentDeps.authEntries.put({ appId: app.id, tokenSha256: sha256Hex(token) });
  const { host, port } = new URL(deploymentDeps.edge.urlOf(app.slug));
  const request = (target: string, options: RequestOptions = {}) => sendRequest(Number(port), host, target, options);
  return {
    tenant,
    app,
    request,
    asOwner: (target, options) => request(target, { ...options, headers: { authorization: `Bearer ${token}` } }),
    check: () => enforceStorage(storageDeps, new AbortController().signal),
    usage: () => getUsage(harness.service.parts.service, { orgId: tenant.org_id } as Caller),
    statusMessage: async () => (await tenant.rest.get(`/v1/apps/${app.id}`)).body["status_message"],
  };
}

test("an app beyond its bound is stopped, serves its owner, and serves all again after data was deleted", async () => {
  await using harness = await createHarness({ config: { plans, defaultPlan: "small" } });
  const { app, request, asOwner, check, usage, statusMessage } = await givenStoringApp(harness);
  for (const kind of ["/sql", "/kv", "/objects"]) {
    await request(`${kind}?mb=1`, { method: "PUT" });
    await check();
    expect((await request("/")).status).toBe(200);
    await request(`${kind}?mb=2`, { method: "PUT" });
    await check();
    const refused = await request("/");
    expect([refused.status, refused.text]).toEqual([507, expect.stringContaining("stores more data than its plan")]);
    const stored = { slug: app.slug, stopped: true, total_bytes: expect.toSatisfy((bytes) => bytes > 2 * MEBIBYTE) };
    expect((await usage()).storage).toMatchObject({ limit_bytes_per_app: 2 * MEBIBYTE, apps: [stored] });
    expect(await statusMessage()).toContain('more than the 2 MiB that the plan "small" allows');
    const page = await request("/", { headers: { accept: "text/html,*/*" } });
    expect([page.status, page.headers["content-type"]]).toEqual([507, "text/html; charset=utf-8"]);
    expect(page.text).toContain("<p>This app is stopped because it stores more data than its plan allows.");
    expect((await asOwner("/")).text).toBe("hello");
    expect((await request("/")).status).toBe(507);
    await asOwner(kind, { method: "DELETE" });
    // Values are removed from the disk shortly after the response.
    await eventually(async () => {
      await check();
      return (await statusMessage()) === null || undefined;
    });
    expect((await request("/")).status).toBe(200);
  }
});

test("an app far beyond its bound serves no requests until its plan is larger", async () => {
  await using harness = await createHarness({ config: { plans, defaultPlan: "small" } });
  const { tenant, request, asOwner, check, usage, statusMessage } = await givenStoringApp(harness);
  await request("/kv?mb=5", { method: "PUT" });
  await check();
  for (const response of [await request("/"), await asOwner("/")])
    expect([response.status, response.text]).toEqual([507, expect.stringContaining("more than twice")]);
  expect(await statusMessage()).toContain("Move to a larger plan, or delete the app.");
  const em = harness.service.parts.orm.em.fork();
  await em.nativeUpdate(Organization, { id: tenant.org_id }, { plan: "large" });
  await check();
  expect([(await request("/")).status, await statusMessage()]).toEqual([200, null]);
  // Two requests reached the app: the first and the last. Refused ones do not count.
  const { service: execution } = harness.service.parts;
  await execution.usageCounter.flush(harness.service.parts.db);
  expect((await usage()).activity).toMatchObject({ requests: 2, programs: 0 });
});
