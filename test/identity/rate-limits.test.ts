import http from "node:http";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { countFailedSignIn, limitSignIns } from "../../domain/users/limit-sign-ins.ts";
import type { HttpResponse } from "../support/clients/rest-client.ts";
import { randomAddress, TestUser } from "../support/identity/test-user.ts";
import { createHarness } from "../support/service/harness.ts";

/** Behind a trusted proxy, a request can come from any client address. */
const BEHIND_PROXY = { trustedProxies: ["127.0.0.1"] };
const WRONG_PASSWORD = "wrong password";
const RETRY_AFTER = expect.stringMatching(/^[1-9]\d*$/) as string;

function signInFrom(address: string, user: TestUser, password = user.password): Promise<HttpResponse> {
  return user.post("/sign-in/email", { email: user.email, password }, { "x-forwarded-for": address });
}

test("429 rejects the 11th sign-in to an account from one address after ten wrong passwords, also with the right one", async () => {
  await using harness = await createHarness({ config: { ...BEHIND_PROXY, signUp: "open" } });
  const { publicUrl } = harness.service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  const address = randomAddress();
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 10; attempt += 1)
    statuses.push((await signInFrom(address, user, WRONG_PASSWORD)).status);
  expect(new Set(statuses)).toEqual(new Set([401]));
  const rejected = await signInFrom(address, user);
  expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, RETRY_AFTER]);
  const otherUser = new TestUser(publicUrl);
  expect((await otherUser.signUp()).status).toBe(200);
  expect((await signInFrom(address, otherUser)).status).toBe(200);
});

test("429 limits parallel wrong passwords as strictly as sequential ones", async () => {
  await using harness = await createHarness({ config: BEHIND_PROXY });
  const user = new TestUser(harness.service.publicUrl);
  await user.signUp();
  const address = randomAddress();
  const attempts = Array.from({ length: 30 }, () => signInFrom(address, user, WRONG_PASSWORD));
  const responses = await Promise.all(attempts);
  expect(responses.filter(({ status }) => status === 401)).toHaveLength(10);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(20);
});

test("429 limits wrong current passwords in requests to change the password of a signed-in user", async () => {
  await using harness = await createHarness({ config: BEHIND_PROXY });
  const user = new TestUser(harness.service.publicUrl);
  await user.signUp();
  const headers = { "x-forwarded-for": randomAddress() };
  const change = { currentPassword: WRONG_PASSWORD, newPassword: "another horse battery" };
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1)
    statuses.push((await user.post("/change-password", change, headers)).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429]);
  const rightPassword = { ...change, currentPassword: user.password };
  expect((await user.post("/change-password", rightPassword, headers)).status).toBe(429);
});

test("429 limits the records that unauthenticated requests from one address create, in any spelling of the path", async () => {
  await using harness = await createHarness();
  const user = new TestUser(harness.service.publicUrl);
  const client = { redirect_uris: ["https://client.example.com/callback"], token_endpoint_auth_method: "none" };
  const responses = await Promise.all(Array.from({ length: 101 }, () => user.post("/oauth2/register", client)));
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(100);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(1);
  expect((await user.signUp()).status).toBe(429);
  // `fetch` would normalize this path before sending it.
  const { promise: status, resolve } = Promise.withResolvers<number | undefined>();
  const { port } = harness.service;
  const path = "/api/auth/./device/../sign-up/email";
  http.request({ port, path, method: "POST" }, (response) => resolve(response.resume().statusCode)).end();
  expect(await status).toBe(429);
  expect((await user.get("/get-session")).status).toBe(200);
});

test("wrong passwords from many addresses do not lock a user out of an address that they have signed in from", async () => {
  await using harness = await createHarness();
  const { orm, service: parts } = harness.service.parts;
  const { counter } = parts;
  const user = new TestUser(harness.service.publicUrl);
  await user.signUp();
  const { email } = user;
  for (let at = 0; at < 100; at += 1) await countFailedSignIn(counter, { network: `192.0.2.${at}`, email });
  const deps = { counter, db: queryBuilderOf(orm.em.fork()) };
  await expect(limitSignIns(deps, { network: "198.51.100.7", email })).rejects.toThrow("Too many wrong passwords");
  expect((await user.signIn()).status).toBe(200);
});

test("429 rejects the 301st request to the identity provider from one address within a minute", async () => {
  await using harness = await createHarness();
  const user = new TestUser(harness.service.publicUrl);
  const responses = await Promise.all(Array.from({ length: 301 }, () => user.get("/get-session")));
  const rejected = responses.filter(({ status }) => status === 429);
  expect([rejected.length, rejected[0]?.headers.get("retry-after")]).toEqual([1, RETRY_AFTER]);
});

test("rate limits count an IPv6 /64 network as one client, and a user may sign in from any address of a known network", async () => {
  await using harness = await createHarness({ config: BEHIND_PROXY });
  const { publicUrl, parts } = harness.service;
  const user = new TestUser(publicUrl);
  const { email, password } = user;
  const [home, elsewhere] = [randomAddress(), randomAddress()];
  const signUp = { name: "Ada", email, password };
  expect((await user.post("/sign-up/email", signUp, { "x-forwarded-for": home })).status).toBe(200);
  const statuses: number[] = [];
  for (let at = 1; at <= 11; at += 1)
    statuses.push((await signInFrom(elsewhere + at.toString(16), user, WRONG_PASSWORD)).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  for (let at = 0; at < 100; at += 1)
    await countFailedSignIn(parts.service.counter, { network: `192.0.2.${at}`, email });
  expect((await signInFrom(randomAddress(), user)).status).toBe(429);
  expect((await signInFrom(`${home}f`, user)).status).toBe(200);
});
