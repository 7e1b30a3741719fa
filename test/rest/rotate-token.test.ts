import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { App } from "../../domain/apps/app.entity.ts";
import { IN_PROGRESS } from "../../domain/apps/app-status.ts";
import { syncAuthEntry } from "../../domain/apps/sync-auth-entry.ts";
import { sweep } from "../../domain/deployments/sweep.ts";
import type { AuthEntries } from "../../domain/ports/auth-entries.ts";
import { sha256Hex } from "../../domain/tokens/mint-token.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { failing } from "../support/edge/platform-resources.ts";
import type { Answer } from "../support/clients/rest-client.ts";
import { givenServedApp, offered } from "../support/edge/served-app.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;

const rotate = (tenant: Tenant, { id }: { id: string }, body: object = {}): Promise<Answer> =>
  tenant.rest.post(`/v1/apps/${id}/rotate-token`, body);

const tokenOf = ({ body }: Answer) => String(body["app_token"]);
const current = async (tenant: Tenant, { id }: App) => tokenOf(await tenant.rest.get(`/v1/apps/${id}`));
const entryOf = ({ id }: App) => deps().authEntries.get(id);
const execute = (sql: string, id: string) => deps().em.fork().getConnection().execute(sql, [id]);

/** Says whether the front door took the caller's token for the app's own. */
const SCRIPT = `export default { fetch: (request) => Response.json({ as: request.headers.get("x-service-auth") ?? "public" }) };`;

verifies(
  "apps.token.bearer",
  "200 gives a live app a new token; the old one is good beside it for the overlap, and no longer without one",
  async () => {
    const tenant = await service().tenant();
    const app = await givenServedApp(service(), tenant, { script: SCRIPT, procedures: [offered("whoami")] });
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
    expect(await current(tenant, app)).toBe(tokenOf(second));
    expect([await statusWith(first), await statusWith(tokenOf(second)), await whoAmI()]).toEqual([
      ...[200, 200],
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

test("200 lets the old token live for a day when nothing else is said, and for as long as is said otherwise", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const overlaps = [
    [{}, 86_400_000],
    [{ overlap: "hour" }, 3_600_000],
    [{ overlap: "week" }, 604_800_000],
  ] as const;
  for (const [body, overlapMs] of overlaps) {
    const old = await current(tenant, app);
    const from = Date.now();
    const answer = await rotate(tenant, app, body);
    const until = String(answer.body["expires_previous_at"]);
    expect(Date.parse(until)).toBeGreaterThanOrEqual(from + overlapMs);
    expect(Date.parse(until)).toBeLessThanOrEqual(Date.now() + overlapMs);
    expect(await entryOf(app)).toEqual({
      appId: app.id,
      tokenSha256: sha256Hex(tokenOf(answer)),
      previous: { tokenSha256: sha256Hex(old), until },
    });
  }
});

test("400 for an overlap that does not exist, and nothing is rotated", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const before = await current(tenant, app);
  const answer = await rotate(tenant, app, { overlap: "forever" });
  expect([answer.status, answer.body["error"], await current(tenant, app)]).toEqual([
    400,
    expect.stringContaining("overlap"),
    before,
  ]);
});

verifies(hazard(26), "404 hides another organization's app, whose token stays", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const app = await service().givenApp(other);
  const before = await current(other, app);
  const answers = [await rotate(tenant, app), await rotate(tenant, { id: randomUUID() })];
  expect(answers.map(({ status, body }) => [status, body])).toEqual(
    answers.map(() => [404, { error: "App not found" }]),
  );
  expect([await current(other, app), await entryOf(app)]).toEqual([before, null]);
});

test("409 says what to wait for while an app is not ready, and its token stays", async () => {
  const tenant = await service().tenant();
  for (const status of [...IN_PROGRESS, "failed", "canceled", "deleting"] as const) {
    const app = await service().givenApp(tenant, { status });
    const before = await current(tenant, app);
    const answer = await rotate(tenant, app);
    expect([status, answer.status, answer.body["error"]]).toEqual([status, 409, expect.stringContaining("`ready`")]);
    expect([await current(tenant, app), await entryOf(app)]).toEqual([before, null]);
  }
});

test("rotations at once leave the newest token good, and the one before it as the last of them says", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const overlaps = ["hour", "none", "week", "day"];
  const answers = await Promise.all(overlaps.map((overlap) => rotate(tenant, app, { overlap })));
  expect(answers.map(({ status }) => status)).toEqual(overlaps.map(() => 200));
  const [row] = (await execute("select token_version, previous_token_until from apps where id = ?", app.id)) as {
    token_version: number;
    previous_token_until: string | Date | null;
  }[];
  expect(row?.token_version).toBe(1 + overlaps.length);
  const entry = await entryOf(app);
  expect(entry?.tokenSha256).toBe(sha256Hex(await current(tenant, app)));
  const until = row?.previous_token_until ?? null;
  expect(entry?.previous?.until ?? null).toBe(until === null ? null : new Date(until).toISOString());
});

/** Entries to which something else happens just before each is stored. */
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

test("a writer that was slow does not put an older token back", async () => {
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
    { appId: app.id, tokenSha256: sha256Hex(await current(tenant, app)) },
  ]);
});

verifies(hazard(60), "an app that is deleted while its entry is written is left without one", async () => {
  const app = await service().givenApp(await service().tenant());
  const authEntries = interrupted(deps().authEntries, () => execute("delete from apps where id = ?", app.id));
  expect([await syncAuthEntry({ ...deps(), authEntries }, app.id), await entryOf(app)]).toEqual([null, null]);
});

test("a sweep brings a token to its app that a crash or a fault has kept from it, with the overlap, once", async () => {
  const tenant = await service().tenant();
  const [missing, old] = [await service().givenApp(tenant), await service().givenApp(tenant)];
  const building = await service().givenApp(tenant, { status: "building" });
  await sweep(deps());
  await deps().authEntries.remove(missing.id);
  const before = await current(tenant, old);
  // What a rotation commits before it writes the entry.
  const raised = "update apps set token_version = token_version + 1, previous_token_until = now() + interval '1 hour'";
  await execute(`${raised} where id = ?`, old.id);
  const faulty = { ...deps(), authEntries: failing(deps().authEntries, "put", 1) };
  await expect(sweep(faulty)).rejects.toThrow("500");
  expect([(await sweep(deps())).authEntries, (await sweep(deps())).authEntries]).toEqual([2, 0]);
  expect((await entryOf(missing))?.tokenSha256).toBe(sha256Hex(await current(tenant, missing)));
  expect(await entryOf(old)).toMatchObject({
    tokenSha256: sha256Hex(await current(tenant, old)),
    previous: { tokenSha256: sha256Hex(before) },
  });
  expect(await entryOf(building)).toBeNull();
});

test("a rotation is in the audit log, with the app and without its token", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  const answer = await rotate(tenant, app);
  const events = await execute("select * from audit_events where target = ?", app.id);
  expect(events).toEqual([expect.objectContaining({ action: "apps.rotateToken", outcome: "done" })]);
  expect(JSON.stringify(events)).not.toContain(tokenOf(answer));
});
