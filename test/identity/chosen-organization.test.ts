import { randomUUID } from "node:crypto";
import { runWithRequestState } from "@better-auth/core/context";
import { beforeAll, expect, test } from "vitest";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import {
  chooseOrganization,
  organizationClaims,
  resolveConsentedOrganization,
} from "../../server/identity/consented-organization.ts";
import { sharedDatabase } from "../support/database/shared-database.ts";
import { givenUser } from "../support/identity/given-user.ts";

const orm = sharedDatabase();
const db = () => queryBuilderOf(orm().em.fork());
let userId: string;
let organizationId: string;

beforeAll(async () => {
  const em = orm().em.fork();
  const settings = { name: "Acme", email: "owner@example.com", plan: "free" };
  ({ user_id: userId, org_id: organizationId } = await em.transactional((tx) => createOrganization(tx, settings)));
});

/** Returns what is stored with the consent of a user after a decision on the consent page. */
async function decide(body: Record<string, unknown>, user = userId): Promise<string> {
  let stored = "";
  await runWithRequestState(new WeakMap(), async () => {
    await chooseOrganization(db(), body, user);
    stored = await resolveConsentedOrganization(db(), user);
  });
  return stored;
}

test("a consent is for the chosen organization, or without a choice for all organizations of the user", async () => {
  expect(await decide({ accept: true, organizationId })).toBe(organizationId);
  for (const body of [{ accept: true }, { accept: true, organizationId: null }])
    expect(await decide(body)).toBe("every");
});

test("without a decision and an earlier consent, the user is asked for consent", async () => {
  for (const body of [{}, { accept: false }, { accept: "true" }, { accept: false, organizationId: "not an id" }])
    expect(await decide(body)).toBe("none");
});

test("400 rejects an organization of which the user is not a member", async () => {
  const error = {
    status: "BAD_REQUEST",
    body: {
      message: "organizationId: must be the id of an organization of which you are a member.",
      code: "INVALID",
    },
  };
  for (const foreign of [randomUUID(), "every", "", 7])
    await expect(decide({ accept: true, organizationId: foreign })).rejects.toMatchObject(error);
  const stranger = await givenUser(orm().em.fork());
  await expect(decide({ accept: true, organizationId }, stranger)).rejects.toMatchObject(error);
});

test("an access token names the organization only if the user chose one", () => {
  expect(organizationClaims(organizationId)).toEqual({ org_id: organizationId });
  for (const stored of ["every", "none", undefined]) expect(organizationClaims(stored)).toEqual({});
});
