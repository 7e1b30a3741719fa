import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair } from "jose";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { LocalJwks } from "../../server/auth/local-jwks.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
const HOUR_MS = 3_600_000;

const em = () => service().service.parts.orm.em.fork();
const createKeys = () => new LocalJwks(queryBuilderOf(em()));

const { publicKey } = await generateKeyPair("RS256");

/** Inserts a public key that expired the given time ago; `null` for one without expiry. */
async function insertKey(expiredMs: number | null, id: string = randomUUID()): Promise<string> {
  const expiresAt = expiredMs === null ? null : new Date(Date.now() - expiredMs).toISOString();
  await em().execute(
    `insert into auth.jwks (id, "publicKey", "privateKey", "createdAt", "expiresAt") values (?, ?, '', now(), ?)`,
    [id, JSON.stringify(await exportJWK(publicKey)), expiresAt],
  );
  return id;
}

test("a key verifies until two days after its expiry, longer than any token that it signed is valid", async () => {
  const keys = createKeys();
  for (const expiredMs of [null, -HOUR_MS, HOUR_MS, 47 * HOUR_MS])
    expect([expiredMs, (await keys.getKey(await insertKey(expiredMs)))?.type]).toEqual([expiredMs, "public"]);
  expect(await keys.getKey(await insertKey(49 * HOUR_MS))).toBeNull();
});

test("a key is read from the database once", async () => {
  const keys = createKeys();
  const id = await insertKey(null);
  const key = await keys.getKey(id);
  await em().execute("delete from auth.jwks where id = ?", [id]);
  expect(key).not.toBeNull();
  expect(await keys.getKey(id)).toBe(key);
});

test("a cached key stops verifying two days after its expiry", async () => {
  const keys = createKeys();
  const id = await insertKey(48 * HOUR_MS - 1000);
  expect((await keys.getKey(id))?.type).toBe("public");
  await expect.poll(() => keys.getKey(id)).toBeNull();
});

test("an unknown key id is not looked up again at once, and is found soon after its key exists", async () => {
  const keys = createKeys();
  const id = randomUUID();
  expect(await keys.getKey(id)).toBeNull();
  await insertKey(null, id);
  expect(await keys.getKey(id)).toBeNull();
  await expect.poll(async () => (await keys.getKey(id))?.type).toBe("public");
});

test("a key id that is not a UUID is unknown, and the database is not asked for it", async () => {
  const keys = createKeys();
  const id = await insertKey(null);
  for (const text of ["", "x' or 1=1", ` ${id}`, `${id}0`, id.toUpperCase().replaceAll("-", "")])
    expect(await keys.getKey(text)).toBeNull();
});
