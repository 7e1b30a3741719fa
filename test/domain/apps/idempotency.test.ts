import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { App } from "../../../domain/apps/app.entity.ts";
import {
  checkIdempotencyKey,
  findAppByKey,
  findByKey,
  isKnownKey,
  storeIdempotencyKey,
} from "../../../domain/apps/idempotency.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

const REQUEST = { repo: "acme/site", branch: "main" };
const call = (orgId: string, key: string, request: object, tokenSecret = "secret") => ({
  ...{ orgId, key, request, tokenSecret },
});

async function givenKey(key = randomUUID()) {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant);
  await em().transactional(async (tx) => storeIdempotencyKey(tx, call(tenant.org_id, key, REQUEST), app));
  return { key, app, orgId: tenant.org_id };
}

test("a key has 1 to 255 printable ASCII characters without spaces", () => {
  for (const key of ["!", "~", randomUUID(), "x".repeat(255)]) expect(() => checkIdempotencyKey(key)).not.toThrow();
  for (const key of ["", " a", "a ", "a b", "a\n", "\na", "\u007f", "é", "x".repeat(256)])
    expect(() => checkIdempotencyKey(key)).toThrow(expect.objectContaining({ code: "invalid" }));
});

test("a key is known in the organization that used it, and in no other", async () => {
  const { key, orgId } = await givenKey();
  const other = await givenKey();
  expect(await isKnownKey(em(), orgId, key)).toBe(true);
  expect(await isKnownKey(em(), other.orgId, key)).toBe(false);
  expect(await isKnownKey(em(), orgId, other.key)).toBe(false);
});

test("a key finds the app and the deployment of its request, whatever the order of the fields", async () => {
  const { key, app, orgId } = await givenKey();
  const found = { appId: app.id, deploymentId: app.latestDeploymentId };
  expect(await findByKey(em(), call(orgId, key, { branch: "main", repo: "acme/site" }))).toMatchObject(found);
  expect(await findAppByKey(em(), call(orgId, key, REQUEST))).toMatchObject({ id: app.id } satisfies Partial<App>);
  expect(await findByKey(em(), call(orgId, randomUUID(), REQUEST))).toBeNull();
  expect(await findAppByKey(em(), call(randomUUID(), key, REQUEST))).toBeNull();
});

test("a key of a different request is rejected, and so is the key of an app that was deleted", async () => {
  const { key, app, orgId } = await givenKey();
  for (const request of [{ ...REQUEST, branch: "next" }, { repo: "acme/site" }, {}])
    await expect(findByKey(em(), call(orgId, key, request))).rejects.toMatchObject({ code: "key_reused" });
  await em().execute("delete from apps where id = ?", [app.id]);
  await expect(findAppByKey(em(), call(orgId, key, REQUEST))).rejects.toMatchObject({ code: "conflict" });
});

test("a fingerprint depends on the service's secret, and a key with the plain hash of an earlier version is still found", async () => {
  const { key, app, orgId } = await givenKey();
  await expect(findByKey(em(), call(orgId, key, REQUEST, "another"))).rejects.toMatchObject({ code: "key_reused" });
  const plain = sha256Hex(JSON.stringify(Object.entries(REQUEST).toSorted()));
  await em().execute("update idempotency_keys set fingerprint = ? where key = ?", [plain, key]);
  expect(await findByKey(em(), call(orgId, key, REQUEST))).toMatchObject({ appId: app.id });
  await expect(findByKey(em(), call(orgId, key, { repo: "acme/site" }))).rejects.toMatchObject({ code: "key_reused" });
});
