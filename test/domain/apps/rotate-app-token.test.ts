import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { appToken } from "../../../domain/apps/app-token.ts";
import { rotateAppToken } from "../../../domain/apps/rotate-app-token.ts";
import type { AuthEntries } from "../../../domain/ports/auth-entries.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

/** An app whose token can be rotated, and the organizations whose changes were announced. */
async function givenApp() {
  const { deploymentDeps } = service().service.parts;
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant);
  const em = deploymentDeps.em.fork();
  const announced: string[] = [];
  const changes = { ...deploymentDeps.changes, announce: (orgId: string) => void announced.push(orgId) };
  const rotate = (overlap: "none" | "hour", authEntries: AuthEntries = deploymentDeps.authEntries) =>
    rotateAppToken({ ...deploymentDeps, authEntries, changes }, { orgId: tenant.org_id } as Caller, { id, overlap });
  return { id, orgId: tenant.org_id, em, announced, rotate, deploymentDeps };
}

test("a rotation returns the new token of the app, and announces that the organization has changed", async () => {
  const { id, orgId, announced, rotate, deploymentDeps } = await givenApp();
  const token = (tokenVersion: number) => appToken(deploymentDeps.tokenSecret, { id, tokenVersion });
  expect(await rotate("none")).toEqual({ app_token: token(2), expires_previous_at: null });
  expect(await rotate("hour")).toEqual({ app_token: token(3), expires_previous_at: expect.stringMatching(/Z$/) });
  expect(announced).toEqual([orgId, orgId]);
});

test("an app that is deleted while its token is rotated is not found", async () => {
  const { id, em, rotate, deploymentDeps } = await givenApp();
  const { authEntries } = deploymentDeps;
  const deleting: AuthEntries = {
    get: (appId) => authEntries.get(appId),
    list: () => authEntries.list(),
    remove: (appId) => authEntries.remove(appId),
    put: async (entry) => {
      await em.nativeDelete(App, { id });
      await authEntries.put(entry);
    },
  };
  await expect(rotate("none", deleting)).rejects.toMatchObject({ code: "not_found" });
  expect(await authEntries.get(id)).toBeNull();
});
