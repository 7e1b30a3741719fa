import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import type { Counter } from "../../../domain/ports/counter.ts";
import { RateLimited } from "../../../domain/shared/errors.ts";
import { countFailedSignIn, limitSignIns } from "../../../domain/users/limit-sign-ins.ts";
import { givenSession, givenUser } from "../../support/identity/given-user.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const counter = (): Counter => service().service.parts.service.counter;

const failSignIns = async (count: number, attemptAt: (at: number) => { network: string; email: string }) => {
  for (let at = 0; at < count; at += 1) await countFailedSignIn(counter(), attemptAt(at));
};

/** The maximum wait of a rejected sign-in in minutes; `null` for one that may be attempted. */
async function waitMinutes(attempt: { network: string; email: string }): Promise<number | null> {
  try {
    await limitSignIns({ counter: counter(), db: queryBuilderOf(em()) }, attempt);
    return null;
  } catch (error) {
    if (error instanceof RateLimited) return Math.ceil(error.retryAfterSeconds / 60);
    throw error;
  }
}

const randomNetwork = () => `net-${randomUUID()}`;
const randomEmail = () => `${randomUUID()}@Example.com`;

test("ten wrong passwords of an account lock it for its network, in any case of the letters of its email address", async () => {
  const attempt = { network: randomNetwork(), email: randomEmail() };
  await failSignIns(9, () => attempt);
  expect(await waitMinutes(attempt)).toBeNull();
  await failSignIns(1, () => attempt);
  expect(await waitMinutes(attempt)).toBeLessThanOrEqual(15);
  expect(await waitMinutes({ ...attempt, email: attempt.email.toLowerCase() })).not.toBeNull();
  expect(await waitMinutes({ ...attempt, network: randomNetwork() })).toBeNull();
  expect(await waitMinutes({ ...attempt, email: randomEmail() })).toBeNull();
});

test("50 wrong passwords lock a network for every account", async () => {
  const network = randomNetwork();
  await failSignIns(49, () => ({ network, email: randomEmail() }));
  expect(await waitMinutes({ network, email: randomEmail() })).toBeNull();
  await failSignIns(1, () => ({ network, email: randomEmail() }));
  expect(await waitMinutes({ network, email: randomEmail() })).toBeLessThanOrEqual(15);
  expect(await waitMinutes({ network: randomNetwork(), email: randomEmail() })).toBeNull();
});

test("100 wrong passwords lock an account for an hour, but not for a network that the user has a session from", async () => {
  const [email, home] = [randomEmail(), randomNetwork()];
  await givenSession(em(), await givenUser(em(), email.toLowerCase()), 60_000, home);
  await givenSession(em(), await givenUser(em()), 60_000, "another network");
  await failSignIns(99, () => ({ network: randomNetwork(), email }));
  expect(await waitMinutes({ network: randomNetwork(), email })).toBeNull();
  await failSignIns(1, () => ({ network: randomNetwork(), email }));
  for (const network of [randomNetwork(), "another network"]) {
    const minutes = await waitMinutes({ network, email });
    expect(minutes).toBeGreaterThan(15);
    expect(minutes).toBeLessThanOrEqual(60);
  }
  expect(await waitMinutes({ network: home, email })).toBeNull();
  // The longest of several waits counts.
  const lockedNetwork = randomNetwork();
  await failSignIns(50, () => ({ network: lockedNetwork, email: randomEmail() }));
  expect(await waitMinutes({ network: lockedNetwork, email })).toBeGreaterThan(15);
});
