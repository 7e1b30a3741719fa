import { randomUUID } from "node:crypto";
import { APIError } from "better-auth/api";
import { beforeAll, expect, test } from "vitest";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import type { AuthSession } from "../../server/identity/auth-call.ts";
import { redactOrganization, rejectForeignOrganization } from "../../server/identity/redact-organization.ts";
import { sharedDatabase } from "../support/database/shared-database.ts";
import { givenMember, givenUser } from "../support/identity/given-user.ts";

const orm = sharedDatabase();
const em = () => orm().em.fork();
const db = () => queryBuilderOf(em());
const ORIGIN = "https://service.example.com";
const GET_PATHS = ["/organization/get-full-organization", "/organization/get-organization"];
const SLUG = "acme";
const LIST_INVITATIONS = "/organization/list-invitations";
let organizationId: string;
const sessions: Record<string, AuthSession> = {};

beforeAll(async () => {
  const settings = { name: "Acme", email: "owner@example.com", plan: "free" };
  organizationId = (await em().transactional((tx) => createOrganization(tx, settings))).org_id;
  await em().execute("update auth.organization set slug = ? where id = ?", [SLUG, organizationId]);
  for (const role of ["owner", "admin", "member", "none"]) {
    const userId = await givenUser(em());
    if (role !== "none") await givenMember(em(), { orgId: organizationId, userId, role });
    sessions[role] = { user: { id: userId, email: "" }, session: { id: randomUUID() } };
  }
});

/** An invitation as better-auth returns it. */
function invitationTo(role: string | null) {
  const expiresAt = new Date(Date.now() + 3_600_000);
  return { id: randomUUID(), status: "pending", expiresAt, organizationId, role };
}

function redact(path: string, returned: unknown, role: string | null = "owner"): Promise<object | undefined> {
  const session = role === null ? null : sessions[role]!;
  return redactOrganization({ db: db(), publicUrl: ORIGIN }, { path, context: { returned } }, session);
}

test.each(GET_PATHS)("%s is rejected for an organization of which the user is not a member", async (path) => {
  const reject = (query: object | undefined, role: string | null) =>
    rejectForeignOrganization(db(), { path, query, context: {} }, role === null ? null : sessions[role]!);
  const found = [{ organizationId }, { organizationSlug: SLUG }, { organizationSlug: SLUG, organizationId: "x" }];
  for (const query of found) {
    await expect(reject(query, "member")).resolves.toBeUndefined();
    const error = await reject(query, "none").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({
      status: "BAD_REQUEST",
      body: { message: "Organization not found", code: "ORGANIZATION_NOT_FOUND" },
    });
    // better-auth itself rejects a request without a session.
    await expect(reject(query, null)).resolves.toBeUndefined();
  }
  for (const query of [undefined, {}]) await expect(reject(query, "none")).resolves.toBeUndefined();
  await expect(reject({ organizationSlug: "absent", organizationId }, "member")).rejects.toThrow("not found");
});

test("a request that better-auth checks itself is not rejected", async () => {
  const call = { path: LIST_INVITATIONS, query: { organizationId }, context: {} };
  await expect(rejectForeignOrganization(db(), call, sessions["none"]!)).resolves.toBeUndefined();
});

test("a user sees the invitations to the roles that they may assign, each with its link", async () => {
  const invitations = ["owner", "admin", "member", null].map(invitationTo);
  const linked = invitations.map((invitation) => ({ ...invitation, link: `${ORIGIN}/invitations/${invitation.id}` }));
  const visible = { owner: linked, admin: linked.slice(1), member: [], none: [] };
  for (const [role, expected] of Object.entries(visible)) {
    expect(await redact(LIST_INVITATIONS, invitations, role)).toEqual(expected);
    for (const path of GET_PATHS)
      expect(await redact(path, { name: "Acme", invitations }, role)).toEqual({ name: "Acme", invitations: expected });
  }
  expect(await redact(LIST_INVITATIONS, [])).toEqual([]);
});

test("any other response stays as it is", async () => {
  const organization = { name: "Acme", invitations: [invitationTo("member")] };
  for (const path of [LIST_INVITATIONS, ...GET_PATHS]) {
    expect(await redact(path, organization.invitations, null)).toBeUndefined();
    expect(await redact(path, new APIError("FORBIDDEN"))).toBeUndefined();
  }
  for (const path of GET_PATHS)
    for (const returned of [null, undefined, { name: "Acme" }]) expect(await redact(path, returned)).toBeUndefined();
  expect(await redact("/organization/list", organization)).toBeUndefined();
});
