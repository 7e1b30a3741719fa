import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { APP_STATUSES, IN_PROGRESS } from "../../../domain/apps/app-status.ts";
import { appToken } from "../../../domain/apps/app-token.ts";
import { syncAuthEntry, syncStaleAuthEntries } from "../../../domain/apps/sync-auth-entry.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import { failing } from "../../support/edge/platform-resources.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;
const entryOf = ({ id }: App) => deps().authEntries.get(id);
const hashOf = (app: App) => sha256Hex(appToken(deps().tokenSecret, app));

async function givenApp(fields: Partial<Pick<App, "status" | "liveDeploymentId" | "tokenVersion">> = {}): Promise<App> {
  const { id } = await service().givenApp(await service().tenant());
  await deps().em.fork().nativeUpdate(App, { id }, fields);
  return deps().em.fork().findOneOrFail(App, { id });
}

test("an app gets an entry while it is live or in progress, and none while it is being deleted", async () => {
  for (const status of APP_STATUSES) {
    const live = await givenApp({ status });
    const neverLive = await givenApp({ status, liveDeploymentId: null });
    const results = [await syncAuthEntry(deps(), live.id), await syncAuthEntry(deps(), neverLive.id)];
    const needed = [status !== "deleting", (IN_PROGRESS as readonly string[]).includes(status)];
    expect([status, ...results.map((result) => result?.id)]).toEqual([
      status,
      needed[0] ? live.id : undefined,
      needed[1] ? neverLive.id : undefined,
    ]);
    const expected = [live, neverLive].map((app, at) =>
      needed[at] ? { appId: app.id, tokenSha256: hashOf(app) } : null,
    );
    expect([status, await entryOf(live), await entryOf(neverLive)]).toEqual([status, ...expected]);
  }
  expect(await syncAuthEntry(deps(), randomUUID())).toBeNull();
});

test("the entries of live apps are replaced when they are missing, outdated or unreadable, and no others are written", async () => {
  await syncStaleAuthEntries(deps());
  const current = await givenApp();
  await syncAuthEntry(deps(), current.id);
  expect(await syncStaleAuthEntries(deps())).toBe(0);
  const missing = await givenApp();
  const outdated = await givenApp();
  await syncAuthEntry(deps(), outdated.id);
  await deps().em.fork().nativeUpdate(App, { id: outdated.id }, { tokenVersion: 2 });
  const deleting = await givenApp({ status: "deleting" });
  const building = await givenApp({ status: "building", liveDeploymentId: null });
  expect(await syncStaleAuthEntries(deps())).toBe(2);
  expect(await syncStaleAuthEntries(deps())).toBe(0);
  expect((await entryOf(missing))?.tokenSha256).toBe(hashOf(missing));
  expect((await entryOf(outdated))?.tokenSha256).toBe(hashOf(Object.assign(outdated, { tokenVersion: 2 })));
  expect([await entryOf(deleting), await entryOf(building)]).toEqual([null, null]);
  const unreadable = { ...deps(), authEntries: failing(deps().authEntries, "get", 1) };
  expect(await syncStaleAuthEntries(unreadable)).toBe(1);
});
