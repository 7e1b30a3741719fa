import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { formatToken } from "../../domain/tokens/token-format.ts";
import { countRefusedSignIn, limitSignIns } from "../../domain/people/limit-sign-ins.ts";
import { rowsOf } from "../../domain/tables.ts";
import { createHarness } from "../support/harness.ts";
import { Person } from "../support/person.ts";
import { hazard, verifies } from "../support/verifies.ts";

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
  await using harness = await createHarness({ config: { signUp: "open" } });
  const { publicUrl } = harness.service;
  const person = new Person(publicUrl);
  await person.signUp();
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 10; attempt += 1) statuses.push((await person.signIn("wrong password")).status);
  expect(new Set(statuses)).toEqual(new Set([401]));
  const throttled = await person.signIn();
  expect([throttled.status, throttled.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)]);
  const other = new Person(publicUrl);
  expect((await other.signUp()).status).toBe(200);
  expect((await other.signIn()).status).toBe(200);
});

test("strangers who guess from many addresses do not lock an owner out of an address they know", async () => {
  await using harness = await createHarness();
  const { orm, services } = harness.service.parts;
  const person = new Person(harness.service.publicUrl);
  await person.signUp();
  const { email } = person;
  for (let stranger = 0; stranger < 100; stranger += 1)
    await countRefusedSignIn(services.counter, { address: `192.0.2.${stranger}`, email });
  const deps = { counter: services.counter, db: rowsOf(orm.em.fork()) };
  await expect(limitSignIns(deps, { address: "198.51.100.7", email })).rejects.toThrow("Too many wrong passwords");
  expect((await person.signIn()).status).toBe(200);
});

test("429 throttles calls of the identity provider by address", async () => {
  await using harness = await createHarness();
  const person = new Person(harness.service.publicUrl);
  const answers = await Promise.all(Array.from({ length: 301 }, () => person.get("/get-session")));
  const refused = answers.filter(({ status }) => status === 429);
  expect([refused.length, refused[0]?.headers.get("retry-after")]).toEqual([1, expect.stringMatching(/^[1-9]\d*$/)]);
});
