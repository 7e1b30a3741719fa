import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { App } from "../../domain/apps/app.entity.ts";
import { IN_PROGRESS } from "../../domain/apps/app-status.ts";
import { syncAuthEntry } from "../../domain/apps/sync-auth-entry.ts";
import { sweep } from "../../domain/deployments/sweep.ts";
import type { AuthEntries } from "../../domain/ports/auth-entries.ts";
import { sha256Hex } from "../../domain/shared/sha256.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { failing } from "../support/edge/platform-resources.ts";
import type { HttpResponse } from "../support/clients/rest-client.ts";
import { discoveredProcedure, givenLiveApp } from "../support/edge/live-app.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;

const rotate = (tenant: Tenant, { id }: { id: string }, body: object = {}): Promise<HttpResponse> =>
  tenant.rest.post(`/v1/apps/${id}/rotate-token`, body);

const tokenOf = ({ body }: HttpResponse) => String(body["app_token"]);
const currentToken = async (tenant: Tenant, { id }: App) => tokenOf(await tenant.rest.get(`/v1/apps/${id}`));
const entryOf = ({ id }: App) => deps().authEntries.get(id);
const execute = (sql: string, id: string) => deps().em.fork().getConnection().execute(sql, [id]);

/** Returns whether the edge proxy accepted the caller's token as the app's token. */
const SCRIPT = `export default { fetch: (request) => Response.json({ as: request.headers.get("x-service-auth") ?? "public" }) };`;

verifies(
  ["apps.token.bearer", "apps.token.rotated"],
  "200 gives a live app a new token; the previous token stays valid for the overlap, and without an overlap it is invalid at once",
  async () => {
    const tenant = await service().tenant();
    const app = await givenLiveApp(service(), tenant, { script: SCRIPT, procedures: [discoveredProcedure("whoami")] });
    const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
    const whoAmI = async () => (await gateway.tool(`${app.slug}_whoami`)).structuredContent;
    const { body: shown } = await tenant.rest.get(`/v1/apps/${app.id}`);
    const statusWith = async (token: string) =>
      (await appRequest(String(shown["url"]), { headers: { authorization: `Bearer ${token}` } })).status;
    const first = String(shown["app_token"]);
    expect([await statusWith(first), await whoAmI()]).toEqual([200, { output: { as: "app" } }]);

    const second = await rotate(tenant, app, { overlap: "hour" });
    expect([second.status, second.body]).toEqual([
      200,
      { app_token: expect.stringMatching(/^sva_/), expires_previous_at: expect.stringMatching(/Z$/) },
    ]);
    expect(tokenOf(second)).not.toBe(first);
    expect(await currentToken(tenant, app)).toBe(tokenOf(second));
    expect([await statusWith(first), await statusWith(tokenOf(second)), await whoAmI()]).toEqual([
      200,
      200,
      { output: { as: "app" } },
    ]);

    const third = await rotate(tenant, app, { overlap: "none" });
    expect(third.body["expires_previous_at"]).toBeNull();
    const all = [first, tokenOf(second), tokenOf(third)];
    expect([await Promise.all(all.map(statusWith)), await whoAmI()]).toEqual([
      [401, 401, 200],
      { output: { as: "app" } },
    ]);
  },
);

test("200 keeps the previous token valid for a day by default, and otherwise for the given overlap", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const overlaps = [
    [{}, 86_400_000],
    [{ overlap: "hour" }, 3_600_000],
    [{ overlap: "week" }, 604_800_000],
  ] as const;
  for (const [body, overlapMs] of overlaps) {
    const old = await currentToken(tenant, app);
    const from = Date.now();
    const response = await rotate(tenant, app, body);
    const until = String(response.body["expires_previous_at"]);
    expect(Date.parse(until)).toBeGreaterThanOrEqual(from + overlapMs);
    expect(Date.parse(until)).toBeLessThanOrEqual(Date.now() + overlapMs);
    expect(await entryOf(app)).toEqual({
      appId: app.id,
      tokenSha256: sha256Hex(tokenOf(response)),
      previous: { tokenSha256: sha256Hex(old), until },
    });
  }
});

test("400 rejects an unknown overlap, and the token is not rotated", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const before = await currentToken(tenant, app);
  const response = await rotate(tenant, app, { overlap: "forever" });
  expect([response.status, response.body["error"], await currentToken(tenant, app)]).toEqual([
    400,
    expect.stringContaining("overlap"),
    before,
  ]);
});

verifies(hazard(26), "404 hides another organization's app, whose token is not rotated", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const app = await service().givenApp(other);
  const before = await currentToken(other, app);
  const responses = [await rotate(tenant, app), await rotate(tenant, { id: randomUUID() })];
  expect(responses.map(({ status, body }) => [status, body])).toEqual(
    responses.map(() => [404, { error: "App not found" }]),
  );
  expect([await currentToken(other, app), await entryOf(app)]).toEqual([before, null]);
});

test("409 says what to wait for while an app is not live, and its token is not rotated", async () => {
  const tenant = await service().tenant();
  for (const status of [...IN_PROGRESS, "failed", "canceled", "deleting"] as const) {
    const app = await service().givenApp(tenant, { status });
    const before = await currentToken(tenant, app);
    const response = await rotate(tenant, app);
    expect([status, response.status, response.body["error"]]).toEqual([
      status,
      409,
      expect.stringContaining("`ready`"),
    ]);
    expect([await currentToken(tenant, app), await entryOf(app)]).toEqual([before, null]);
  }
});

test("after concurrent rotations the newest token is valid, and the previous one as long as the last rotation requested", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const overlaps = ["hour", "none", "week", "day"];
  const responses = await Promise.all(overlaps.map((overlap) => rotate(tenant, app, { overlap })));
  expect(responses.map(({ status }) => status)).toEqual(overlaps.map(() => 200));
  const [row] = (await execute("select token_version, previous_token_until from apps where id = ?", app.id)) as {
    token_version: number;
    previous_token_until: string | Date | null;
  }[];
  expect(row?.token_version).toBe(1 + overlaps.length);
  const entry = await entryOf(app);
  expect(entry?.tokenSha256).toBe(sha256Hex(await currentToken(tenant, app)));
  const until = row?.previous_token_until ?? null;
  expect(entry?.previous?.until ?? null).toBe(until === null ? null : new Date(until).toISOString());
});

/** Auth entries that run `meanwhile` just before each entry is stored. */
const interrupted = (entries: AuthEntries, meanwhile: () => Promise<unknown>): AuthEntries =>
  new Proxy(entries, {
    get: (target, name) =>
      name === "put"
        ? async (entry: Parameters<AuthEntries["put"]>[0]) => {
            await meanwhile();
            await target.put(entry);
          }
        : (Reflect.get(target, name, target) as () => unknown).bind(target),
  });

test("a slow write of an auth entry does not restore an older token", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  let rotated = false;
  const authEntries = interrupted(deps().authEntries, async () => {
    if (rotated) return;
    rotated = true;
    await rotate(tenant, app, { overlap: "none" });
  });
  await syncAuthEntry({ ...deps(), authEntries }, app.id);
  expect([rotated, await entryOf(app)]).toEqual([
    true,
    { appId: app.id, tokenSha256: sha256Hex(await currentToken(tenant, app)) },
  ]);
});

verifies(hazard(60), "an app that is deleted while its auth entry is written ends without an entry", async () => {
  const app = await service().givenApp(await service().tenant());
  const authEntries = interrupted(deps().authEntries, () => execute("delete from apps where id = ?", app.id));
  expect([await syncAuthEntry({ ...deps(), authEntries }, app.id), await entryOf(app)]).toEqual([null, null]);
});

test("a sweep writes, once, the auth entry that a crash or an error left missing or outdated, with its overlap", async () => {
  const tenant = await service().tenant();
  const [missing, old] = [await service().givenApp(tenant), await service().givenApp(tenant)];
  const building = await service().givenApp(tenant, { status: "building" });
  await sweep(deps());
  await deps().authEntries.remove(missing.id);
  const before = await currentToken(tenant, old);
  // A rotation commits this before it writes the entry.
  const raised = "update apps set token_version = token_version + 1, previous_token_until = now() + interval '1 hour'";
  await execute(`${raised} where id = ?`, old.id);
  const failingOnce = { ...deps(), authEntries: failing(deps().authEntries, "put", 1) };
  await expect(sweep(failingOnce)).rejects.toThrow("500");
  expect([(await sweep(deps())).authEntries, (await sweep(deps())).authEntries]).toEqual([2, 0]);
  expect((await entryOf(missing))?.tokenSha256).toBe(sha256Hex(await currentToken(tenant, missing)));
  expect(await entryOf(old)).toMatchObject({
    tokenSha256: sha256Hex(await currentToken(tenant, old)),
    previous: { tokenSha256: sha256Hex(before) },
  });
  expect(await entryOf(building)).toBeNull();
});

test("the audit log records a rotation with the app and without its token", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const response = await rotate(tenant, app);
  const events = await execute("select * from audit_events where target = ?", app.id);
  expect(events).toEqual([expect.objectContaining({ action: "apps.rotateToken", outcome: "done" })]);
  expect(JSON.stringify(events)).not.toContain(tokenOf(response));
});

test("200 rotates a token without a request body, with the default overlap", async () => {
  const tenant = await service().tenant();
  const app = await givenLiveApp(service(), tenant, { script: SCRIPT, procedures: [] });
  const { status, body } = await tenant.rest.send("POST", `/v1/apps/${app.id}/rotate-token`, {});
  expect([status, body]).toEqual([200, { app_token: expect.any(String), expires_previous_at: expect.any(String) }]);
  expect(await currentToken(tenant, app)).toBe(body["app_token"]);
});
