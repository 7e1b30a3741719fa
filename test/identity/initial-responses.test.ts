import { expect, test } from "vitest";
import { sharedOrganization } from "../support/identity/organization-members.ts";
import type { TestUser } from "../support/identity/test-user.ts";

const { organization } = sharedOrganization();

/** Returns what a page has of the identity provider's responses; `null` if it has none. */
function findBodies(html: string): Record<string, unknown> | null {
  const json = /<script type="application\/json" id="initial-responses">(.*?)<\/script>/s.exec(html)?.[1];
  return json === undefined ? null : (JSON.parse(json) as Record<string, unknown>);
}

async function readBodies(user: TestUser, path: string): Promise<Record<string, unknown>> {
  const { status, headers, text } = await user.visit(path);
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  return findBodies(text) ?? {};
}

test("a page has the session, the organizations and the role of its user", async () => {
  const { member, organizationId } = organization();
  const bodies = await readBodies(member, `/apps?org=${organizationId}`);
  const role = `/organization/get-active-member-role?organizationId=${organizationId}`;
  expect(Object.keys(bodies)).toEqual(["/get-session", "/organization/list", role]);
  for (const [path, body] of Object.entries(bodies)) expect(body).toEqual(JSON.parse((await member.get(path)).text));
});

test("a page without a session, or with a forged one, has no such data", async () => {
  for (const cookie of ["", "service.session_token=forged", "service.session_token=forged.AAAA; other=1"]) {
    const response = await fetch(`${organization().url}/apps`, { headers: { accept: "text/html", cookie } });
    expect([response.status, findBodies(await response.text())]).toEqual([200, null]);
  }
});

test("the URL of a page cannot name an organization of others, or anything else", async () => {
  const { member, organizationId } = organization();
  const role = `/organization/get-active-member-role?organizationId=${organizationId}`;
  for (const org of ["00000000-0000-4000-8000-000000000000", `${organizationId}%26x=1`, "a&org=b", "%00"])
    expect(Object.keys(await readBodies(member, `/apps?org=${org}`))).toEqual([
      "/get-session",
      "/organization/list",
      role,
    ]);
});

test("a name in this data cannot end its element", async () => {
  const { owner, organizationId } = organization();
  const name = "</script><script src=/x></script><!-- $& ";
  await owner.post("/organization/update", { organizationId, data: { name } });
  const { text } = await owner.visit("/apps");
  expect(text).not.toContain("<script src=/x>");
  expect(findBodies(text)?.["/organization/list"]).toContainEqual(expect.objectContaining({ name }));
});
