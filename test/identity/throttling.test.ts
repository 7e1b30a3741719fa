import { randomBytes } from "node:crypto";
import http from "node:http";
import { expect, test } from "vitest";
import { formatToken } from "../../domain/tokens/token-format.ts";
import { countFailedSignIn, limitSignIns } from "../../domain/users/limit-sign-ins.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { createHarness } from "../support/service/harness.ts";
import { TestUser } from "../support/identity/test-user.ts";
import type { Answer } from "../support/clients/rest-client.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** Behind a proxy, so that what one test uses up is not missing in another. */
const BEHIND = { trustedProxies: ["127.0.0.1"] };

/** An address of a network of its own. */
function somewhere(): string {
  const [a, b] = [randomBytes(2).toString("hex"), randomBytes(2).toString("hex")];
  return `2001:db8:${a}:${b}::1`;
}

/** Tries a password from an address, and answers with the status. */
async function tried(person: TestUser, address: string, password = person.password): Promise<Answer> {
  return person.post("/sign-in/email", { email: person.email, password }, { "x-forwarded-for": address });
}

verifies(hazard(32), "429 throttles wrong tokens by address, and lets through who was proven before", async () => {
  await using harness = await createHarness();
  const tenant = await harness.tenant();
  const other = await harness.tenant();
  expect((await tenant.rest.get("/v1/apps")).status).toBe(200);
  const typo = (token: string) => token.slice(0, -1) + (token.endsWith("a") ? "b" : "a");
  const guesses = (count: number, make: () => string) =>
    Promise.all(Array.from({ length: count }, async () => (await tenant.rest.as(make()).get("/v1/apps")).status));
  // A wrong checksum costs nothing, so it does not count.
  expect(new Set(await guesses(80, () => typo(formatToken("svk", randomBytes(32)))))).toEqual(new Set([401]));
  expect(new Set(await guesses(60, () => formatToken("svk", randomBytes(32))))).toEqual(new Set([401]));
  const throttled = await tenant.rest.as(formatToken("svk", randomBytes(32))).get("/v1/apps");
  expect([throttled.status, throttled.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)]);
  expect((await other.rest.get("/v1/apps")).status).toBe(429);
  expect((await tenant.rest.get("/v1/apps")).status).toBe(200);
});

test("429 throttles wrong passwords to an account from an address, also with the right one at last", async () => {
  await using harness = await createHarness({ config: { ...BEHIND, signUp: "open" } });
  const { publicUrl } = harness.service;
  const person = new TestUser(publicUrl);
  await person.signUp();
  const from = somewhere();
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 10; attempt += 1) statuses.push((await tried(person, from, "wrong password")).status);
  expect(new Set(statuses)).toEqual(new Set([401]));
  const throttled = await tried(person, from);
  expect([throttled.status, throttled.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)]);
  const other = new TestUser(publicUrl);
  expect((await other.signUp()).status).toBe(200);
  expect((await tried(other, from)).status).toBe(200);
});

test("429 throttles wrong passwords that are tried all at once as those tried in turn", async () => {
  await using harness = await createHarness({ config: BEHIND });
  const person = new TestUser(harness.service.publicUrl);
  await person.signUp();
  const from = somewhere();
  const answers = await Promise.all(Array.from({ length: 30 }, () => tried(person, from, "wrong password")));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
});

test("429 throttles wrong passwords of somebody who found a browser signed in and wants to change the password", async () => {
  await using harness = await createHarness({ config: BEHIND });
  const person = new TestUser(harness.service.publicUrl);
  await person.signUp();
  const from = { "x-forwarded-for": somewhere() };
  const change = { currentPassword: "wrong password", newPassword: "another horse battery" };
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1)
    statuses.push((await person.post("/change-password", change, from)).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429]);
  const right = { ...change, currentPassword: person.password };
  expect((await person.post("/change-password", right, from)).status).toBe(429);
});

test("429 bounds what strangers can leave behind from one address", async () => {
  await using harness = await createHarness();
  const stranger = new TestUser(harness.service.publicUrl);
  const client = { redirect_uris: ["https://client.example.com/callback"], token_endpoint_auth_method: "none" };
  const answers = await Promise.all(Array.from({ length: 101 }, () => stranger.post("/oauth2/register", client)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
  expect((await stranger.signUp()).status).toBe(429);
  // As it stands, which a client that is no attacker's would normalize before it sends it.
  const { promise: status, resolve } = Promise.withResolvers<number | undefined>();
  const { port } = harness.service;
  const path = "/api/auth/./device/../sign-up/email";
  http.request({ port, path, method: "POST" }, (answer) => resolve(answer.resume().statusCode)).end();
  expect(await status).toBe(429);
  expect((await stranger.get("/get-session")).status).toBe(200);
});

test("strangers who guess from many addresses do not lock an owner out of an address they know", async () => {
  await using harness = await createHarness();
  const { orm, capabilities } = harness.service.parts;
  const person = new TestUser(harness.service.publicUrl);
  await person.signUp();
  const { email } = person;
  for (let stranger = 0; stranger < 100; stranger += 1)
    await countFailedSignIn(capabilities.rateLimits.counter, { network: `192.0.2.${stranger}`, email });
  const deps = { counter: capabilities.rateLimits.counter, db: queryBuilderOf(orm.em.fork()) };
  await expect(limitSignIns(deps, { network: "198.51.100.7", email })).rejects.toThrow("Too many wrong passwords");
  expect((await person.signIn()).status).toBe(200);
});

test("429 throttles calls of the identity provider by address", async () => {
  await using harness = await createHarness();
  const person = new TestUser(harness.service.publicUrl);
  const answers = await Promise.all(Array.from({ length: 301 }, () => person.get("/get-session")));
  const refused = answers.filter(({ status }) => status === 429);
  expect([refused.length, refused[0]?.headers.get("retry-after")]).toEqual([1, expect.stringMatching(/^[1-9]\d*$/)]);
});

test("limits count an IPv6 network as one, and know the people who signed in from it", async () => {
  await using harness = await createHarness({ config: BEHIND });
  const { publicUrl, parts } = harness.service;
  const person = new TestUser(publicUrl);
  const { email, password } = person;
  const [home, elsewhere] = [somewhere(), somewhere()];
  const signUp = { name: "Ada", email, password };
  expect((await person.post("/sign-up/email", signUp, { "x-forwarded-for": home })).status).toBe(200);
  const statuses: number[] = [];
  for (let at = 1; at <= 11; at += 1)
    statuses.push((await tried(person, elsewhere + at.toString(16), "wrong password")).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  for (let stranger = 0; stranger < 100; stranger += 1)
    await countFailedSignIn(parts.capabilities.rateLimits.counter, { network: `192.0.2.${stranger}`, email });
  expect((await tried(person, somewhere())).status).toBe(429);
  expect((await tried(person, `${home}f`)).status).toBe(200);
});
