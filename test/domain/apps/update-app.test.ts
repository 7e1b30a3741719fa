import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { updateApp, type UpdateApp } from "../../../domain/apps/update-app.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { GivenApp } from "../../support/service/given-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

async function givenApp(fields: GivenApp = {}) {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant, fields);
  await em().nativeUpdate(App, { id }, { rootDirectory: "web", buildNetwork: false, requestedRuntime: "worker" });
  const deps = { ...service().service.parts.service, buildEgress: "public" as const };
  const caller = { orgId: tenant.org_id } as Caller;
  const record = () => em().findOneOrFail(App, { id });
  return { id, record, update: (changes: Partial<UpdateApp>) => updateApp(deps, caller, { id, ...changes }) };
}

test("each setting changes by itself, and the result shows it", async () => {
  for (const [change, stored] of [
    [{ name: "Shop" }, { name: "Shop" }],
    [{ branch: "next" }, { branch: "next" }],
    [{ root_directory: "apps/shop/" }, { rootDirectory: "apps/shop" }],
    [{ root_directory: null }, { rootDirectory: null }],
    [{ build_network: true }, { buildNetwork: true }],
    [{ runtime: "node" }, { requestedRuntime: "node" }],
    [{ runtime: null }, { requestedRuntime: null }],
  ] as const) {
    const { update, record } = await givenApp();
    const { id, slug, name, branch, rootDirectory, buildNetwork, requestedRuntime } = await record();
    const shown = await update(change);
    const before = { id, slug, name, branch, rootDirectory, buildNetwork, requestedRuntime };
    const after = await record();
    expect(after).toMatchObject({ ...before, ...stored });
    expect(shown).toMatchObject({
      id,
      slug,
      name: after.name,
      branch: after.branch,
      root_directory: after.rootDirectory,
      build_network: after.buildNetwork,
      requested_runtime: after.requestedRuntime,
    });
  }
});

test("a name is one line of 1 to 100 characters without spaces at its ends", async () => {
  const { update, record } = await givenApp();
  for (const name of ["x", "Shop für alle 🛒", "x".repeat(100)]) expect((await update({ name })).name).toBe(name);
  const { name: last } = await record();
  for (const name of [
    "",
    " ",
    " a",
    "a ",
    "a\nb",
    "a\u2028b",
    "a\u2029b",
    "a\u202eb",
    "a\u0000b",
    "\ud800",
    "x".repeat(101),
  ])
    await expect(update({ name })).rejects.toMatchObject({ code: "invalid" });
  expect((await record()).name).toBe(last);
});

test("an invalid setting changes nothing, also beside a valid one", async () => {
  const { update, record } = await givenApp();
  const before = await record();
  for (const changes of [{ branch: "a b" }, { root_directory: "../up" }, { name: "" }])
    await expect(update({ name: "Valid", ...changes })).rejects.toMatchObject({ code: "invalid" });
  for (const changes of [{}, { name: undefined, branch: undefined }])
    await expect(update(changes)).rejects.toMatchObject({ code: "invalid" });
  expect(await record()).toEqual(before);
});

test("an app that is being deleted, or is not in the organization, cannot be changed", async () => {
  const [deleting, foreign] = [await givenApp({ status: "deleting" }), await givenApp()];
  await expect(deleting.update({ name: "Mine" })).rejects.toMatchObject({ code: "conflict" });
  for (const id of [foreign.id, randomUUID()])
    await expect(deleting.update({ id, name: "Mine" })).rejects.toMatchObject({ code: "not_found" });
  expect((await foreign.record()).name).toBe("demo");
});
