import { randomUUID } from "node:crypto";
import type { APIError } from "better-auth/api";
import { beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { checkSignUpPolicy, signUpPolicy } from "../../server/identity/sign-up-policy.ts";
import { sharedDatabase } from "../support/database/shared-database.ts";
import { givenInvitation, givenUser } from "../support/identity/given-user.ts";

const orm = sharedDatabase();
const em = () => orm().em.fork();
const refused = (message: string) => ({ status: "FORBIDDEN", code: "SIGN_UP_REFUSED", message });
const INVITATION_REQUIRED = refused("You need an invitation to sign up.");
const CLOSED = refused("Sign-up is closed.");
const RESERVED = refused("This email address is reserved. Use another one.");
let orgId: string;
let inviterId: string;

/** Creates an organization and a user, so that no later user is the first one. */
async function givenInstallation(): Promise<void> {
  inviterId = await givenUser(em());
  const settings = { name: "Acme", email: "owner@example.com", plan: "free" };
  orgId = (await em().transactional((tx) => createOrganization(tx, settings))).org_id;
}

beforeAll(givenInstallation);

interface SignUp {
  signUp?: "open" | "invite" | "closed";
  email?: string | undefined;
  emailVerified?: boolean;
  invitationId?: unknown;
  /** Whether a request creates the user. */
  hasRequest?: boolean;
}

/** Returns the error with which a sign-up is refused; `null` when it is allowed. */
async function refusalOf({ signUp = "invite", invitationId, hasRequest = true, ...user }: SignUp) {
  const context = hasRequest ? { body: { invitationId } } : null;
  try {
    await signUpPolicy({ orm: orm(), signUp })({ emailVerified: false, ...user } as never, context as never);
    return null;
  } catch (error) {
    const { status, body } = error as APIError;
    return { status, ...body };
  }
}

const randomEmail = () => `${randomUUID()}@example.com`;
const invite = (email: string, options: object = {}) =>
  givenInvitation(em(), { orgId, inviterId, email: email.toLowerCase(), ...options });

test("an invited user signs up with the id of the invitation and the invited address, in any case", async () => {
  const email = `${randomUUID()}@Example.COM`;
  const invitationId = await invite(email);
  const elsewhere = await invite(randomEmail());
  expect(await refusalOf({ email, invitationId })).toBeNull();
  for (const id of [undefined, "not an id", randomUUID(), elsewhere])
    expect([id, await refusalOf({ email, invitationId: id })]).toEqual([id, INVITATION_REQUIRED]);
  expect(await refusalOf({ email: randomEmail(), invitationId })).toEqual(INVITATION_REQUIRED);
  expect(await refusalOf({ email: undefined, invitationId })).toEqual(INVITATION_REQUIRED);
});

test("a verified address needs no id of an invitation, but an invitation", async () => {
  const email = randomEmail();
  const invited = { email, emailVerified: true };
  expect(await refusalOf(invited)).toEqual(INVITATION_REQUIRED);
  const invitationId = await invite(email);
  expect([await refusalOf(invited), await refusalOf({ ...invited, invitationId })]).toEqual([null, null]);
  expect(await refusalOf({ ...invited, invitationId: randomUUID() })).toEqual(INVITATION_REQUIRED);
});

test("an invitation that has expired or is not pending allows no sign-up", async () => {
  for (const options of [{ lastsMs: -60_000 }, { status: "canceled" }, { status: "accepted" }]) {
    const email = randomEmail();
    const invitationId = await invite(email, options);
    for (const emailVerified of [true, false])
      expect(await refusalOf({ email, emailVerified, invitationId })).toEqual(INVITATION_REQUIRED);
  }
});

test("with SIGN_UP=open anyone signs up, with SIGN_UP=closed not even an invited user", async () => {
  const email = randomEmail();
  const invitationId = await invite(email);
  expect(await refusalOf({ signUp: "open", email: randomEmail() })).toBeNull();
  for (const emailVerified of [true, false])
    expect(await refusalOf({ signUp: "closed", email, emailVerified, invitationId })).toEqual(CLOSED);
});

test("a reserved address is always refused, and a user who is created without a request never for another reason", async () => {
  for (const signUp of ["open", "invite", "closed"] as const) {
    expect(await refusalOf({ signUp, email: "x@oidc.invalid", hasRequest: false })).toEqual(RESERVED);
    expect(await refusalOf({ signUp, email: randomEmail(), hasRequest: false })).toBeNull();
  }
});

test("the first user of an installation needs no invitation", async () => {
  await em().execute(`delete from auth."user"`);
  for (const signUp of ["invite", "closed"] as const)
    expect(await refusalOf({ signUp, email: randomEmail() })).toBeNull();
  await givenInstallation();
  expect(await refusalOf({ email: randomEmail() })).toEqual(INVITATION_REQUIRED);
});

test("the policy applies to the address of the request, which it treats as not verified", async () => {
  const [email, deps] = [randomEmail(), { orm: orm(), signUp: "invite" as const }];
  const invitationId = await invite(email);
  const check = (body: object) => checkSignUpPolicy(deps, { body } as never);
  await expect(check({ email, invitationId })).resolves.toBeUndefined();
  await expect(check({ email, emailVerified: true })).rejects.toThrow(INVITATION_REQUIRED.message);
  // better-auth itself rejects a request without an address.
  for (const body of [{}, { email: 7 }]) await expect(check(body)).resolves.toBeUndefined();
});
