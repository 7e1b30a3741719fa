import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { provisionExternalUser } from "../../domain/users/provision-external-user.ts";
import type { AccessTokenClaims } from "../../server/auth/access-token-verifier.ts";
import { ExternalUsers } from "../../server/auth/external-users.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
const ISSUER = "https://issuer.example.com";

const createUsers = () => new ExternalUsers(service().service.parts.orm);

function claimsOf(claims: Partial<AccessTokenClaims> = {}): AccessTokenClaims {
  return { iss: ISSUER, sub: randomUUID(), iat: 0, exp: 0, type: "jwt", ...claims };
}

async function nameOf(userId: string): Promise<string | undefined> {
  const { orm } = service().service.parts;
  const [row] = await orm.em.fork().execute<{ name: string }[]>(`select name from auth."user" where id = ?`, [userId]);
  return row?.name;
}

test("an external user is provisioned once, also by simultaneous first calls in several processes", async () => {
  const claims = claimsOf();
  const ids = await Promise.all([1, 2, 3, 4].map(() => createUsers().resolveUserId(claims)));
  expect(new Set(ids).size).toBe(1);
  expect(await createUsers().resolveUserId(claims)).toBe(ids[0]);
  const users = createUsers();
  expect([await users.resolveUserId(claims), await users.resolveUserId(claims)]).toEqual([ids[0], ids[0]]);
});

test("a user that another process provisions at the same time is found after the unique constraint is violated", async () => {
  const { em } = service().service.parts.orm;
  const subject = randomUUID();
  let resolved: Promise<string> | undefined;
  const provisioned = await em.fork().transactional(async (tx) => {
    const userId = await provisionExternalUser(queryBuilderOf(tx), { issuer: ISSUER, subject, name: "Grace" });
    resolved = createUsers().resolveUserId(claimsOf({ sub: subject }));
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => em.fork().execute(waiting)).toHaveLength(1);
    return userId;
  });
  expect(await resolved).toBe(provisioned);
});

test("the same subject of two issuers, and two subjects of one issuer, are different users", async () => {
  const users = createUsers();
  const claims = claimsOf();
  const ids = await Promise.all([
    users.resolveUserId(claims),
    users.resolveUserId({ ...claims, iss: "https://other.example.com" }),
    users.resolveUserId(claimsOf()),
  ]);
  expect(new Set(ids).size).toBe(3);
});

test("the display name is trimmed and cut after 100 characters, and is `User` if the token has none", async () => {
  const users = createUsers();
  for (const [name, expected] of [
    ["Grace", "Grace"],
    ["  Grace Hopper ", "Grace Hopper"],
    ["x".repeat(101), "x".repeat(100)],
    ["   ", "User"],
    [undefined, "User"],
    [42, "User"],
  ])
    expect([name, await nameOf(await users.resolveUserId(claimsOf({ name })))]).toEqual([name, expected]);
});

test("a database error while a user is provisioned is not taken for a user that exists", async () => {
  const users = createUsers();
  // PostgreSQL stores no text with this character.
  await expect(users.resolveUserId(claimsOf({ sub: "a\0b" }))).rejects.toThrow(/invalid byte sequence|0x00/);
});
