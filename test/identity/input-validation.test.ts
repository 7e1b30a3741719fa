import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { RestClient } from "../support/clients/rest-client.ts";
import { randomEmail, sharedOrganization } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";

const { service, organization } = sharedOrganization();

function createNestedObject(depth: number): object {
  let value = {};
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}

test("400 rejects text that the database cannot store, long names and texts, and deep nesting", async () => {
  const { owner, organizationId } = organization();
  const invalid: [string, object][] = [
    ["/organization/create", { name: "a\0b", slug: randomUUID() }],
    ["/organization/create", { name: "x".repeat(101), slug: randomUUID() }],
    ["/organization/create", { name: "x", slug: randomUUID(), logo: "x".repeat(5000) }],
    ["/organization/create", { name: "x", slug: randomUUID(), metadata: { deep: [{ "\0": 1 }] } }],
    ["/organization/update", { organizationId, data: { name: "x".repeat(101) } }],
    ["/organization/update", { organizationId, data: { slug: "\0" } }],
    ["/update-user", { name: "x".repeat(101) }],
    ["/sign-up/email", { name: "x".repeat(101), email: randomEmail(), password: "correct horse battery" }],
    ["/sign-up/email", { name: "x", email: randomEmail(), password: "x".repeat(5000) }],
    ["/organization/create", { name: "x", slug: randomUUID(), metadata: createNestedObject(30) }],
    ["/oauth2/register", { redirect_uris: ["http://127.0.0.1/\ud800"], token_endpoint_auth_method: "none" }],
    ["/change-password", { currentPassword: "\0", newPassword: "correct horse battery" }],
  ];
  for (const [path, body] of invalid)
    expect([path, body, (await owner.post(path, body)).status]).toEqual([path, body, 400]);
  expect(service().logged()).not.toContain("the identity provider failed");
});

test("404 is returned for the endpoints of better-auth that the service disables", async () => {
  const { owner, organizationId } = organization();
  for (const path of [
    "/verify-password",
    "/oauth2/create-client",
    "/oauth2/update-client",
    "/oauth2/client/rotate-secret",
  ])
    for (const variant of [path, `${path}/`])
      expect([variant, (await owner.post(variant, { password: owner.password })).status]).toEqual([variant, 404]);
  expect((await owner.post("/organization/delete", { organizationId })).status).toBe(404);
  expect((await owner.post("/delete-user", { password: owner.password })).status).toBe(404);
});

test("a user cannot set their own id, role, verified email address or active organization", async () => {
  const { url, organizationId } = organization();
  const user = new TestUser(url);
  const signedUp = await user.signUp({
    emailVerified: true,
    id: randomUUID(),
    role: "owner",
    activeOrganizationId: organizationId,
  });
  expect(signedUp.body["user"]).toMatchObject({ emailVerified: false });
  for (const fields of [{ emailVerified: true }, { email: randomEmail() }, { id: randomUUID() }])
    await user.post("/update-user", { name: "x", ...fields });
  await user.post("/update-session", { activeOrganizationId: organizationId });
  const current = (await user.get("/get-session")).body as Record<string, Record<string, unknown>>;
  expect(current["user"]).toMatchObject({ email: user.email, emailVerified: false });
  expect(current["session"]!["activeOrganizationId"] ?? null).toBeNull();
  expect((await new RestClient(url, await user.accessToken()).get("/v1/apps")).status).toBe(403);
});

test("403 rejects the 21st organization of a user, because each organization has its own plan", async () => {
  const user = new TestUser(organization().url);
  await user.signUp();
  const statuses: number[] = [];
  for (let at = 0; at < 21; at += 1)
    statuses.push((await user.post("/organization/create", { name: "One more", slug: randomUUID() })).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 403]);
});
