import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });

interface Cast {
  url: string;
  organizationId: string;
  owner: TestUser;
  admin: TestUser;
  member: TestUser;
}

let cast: Cast;

beforeAll(async () => {
  const { publicUrl: url } = service().service;
  const [owner, admin, member, first] = [new TestUser(url), new TestUser(url), new TestUser(url), new TestUser(url)];
  // The first one owns the organization that the first start made, which is not what this is about.
  for (const person of [first, owner, admin, member]) await person.signUp();
  const { body } = await owner.post("/organization/create", { name: "Acme", slug: randomUUID() });
  const organizationId = String(body["id"]);
  cast = { url, organizationId, owner, admin, member };
  await join(admin, "admin");
  await join(member, "member");
});

async function invite(by: TestUser, email: string, role: unknown, more: object = {}) {
  return by.post("/organization/invite-member", { email, role, organizationId: cast.organizationId, ...more });
}

async function join(person: TestUser, role: string): Promise<void> {
  const { body } = await invite(cast.owner, person.email, role);
  const accepted = await person.post("/organization/accept-invitation", { invitationId: body["id"] as string });
  expect(accepted.status).toBe(200);
}

function address(): string {
  return `${randomUUID()}@example.com`;
}

verifies(hazard(29), "an admin makes no owner, however the role is written", async () => {
  const { admin, owner, organizationId } = cast;
  const written = [
    "owner",
    " owner",
    "owner ",
    "member, owner",
    "admin,owner",
    ["owner"],
    [" owner"],
    ["member", "owner"],
  ];
  for (const role of [...written, "", [], null, "Owner", "root"])
    expect([role, (await invite(admin, address(), role)).status]).toEqual([
      role,
      expect.toSatisfy((s) => s === 400 || s === 403),
    ]);
  const { body } = await owner.get(`/organization/list-members?organizationId=${organizationId}`);
  const members = body["members"] as { id: string; role: string; user: { email: string } }[];
  const idOf = ({ email }: TestUser) => members.find(({ user }) => user.email === email)!.id;
  for (const role of written)
    for (const memberId of [idOf(admin), idOf(cast.member)]) {
      const answer = await admin.post("/organization/update-member-role", { memberId, role, organizationId });
      expect([role, answer.status]).toEqual([role, expect.toSatisfy((s) => s === 400 || s === 403)]);
    }
  for (const role of ["member", "admin"]) {
    const demoted = await admin.post("/organization/update-member-role", {
      memberId: idOf(owner),
      role,
      organizationId,
    });
    expect(demoted.status).toBe(403);
  }
  expect(
    (await admin.post("/organization/remove-member", { memberIdOrEmail: owner.email, organizationId })).status,
  ).toBe(400);
  expect(members.map(({ role }) => role).toSorted()).toEqual(["admin", "member", "owner"]);
});

verifies(hazard(29), "nobody reads the id of an invitation to more than they are", async () => {
  const { owner, admin, member, organizationId } = cast;
  const future = address();
  const { body } = await invite(owner, future, "owner");
  const ownerInvitation = String(body["id"]);
  const memberInvitation = String((await invite(owner, address(), "member")).body["id"]);
  const at = (path: string) => `/organization/${path}?organizationId=${organizationId}`;
  for (const path of ["list-invitations", "get-full-organization"])
    for (const [person, sees] of [
      [owner, [true, true]],
      [admin, [false, true]],
      [member, [false, false]],
    ] as const) {
      const { status, text } = await person.get(at(path));
      expect([path, status, text.includes(ownerInvitation), text.includes(memberInvitation)]).toEqual([
        path,
        200,
        ...sees,
      ]);
    }
  for (const more of [{ resend: true }, { resend: false }]) {
    const again = await invite(admin, future, "member", more);
    expect([again.status, again.text.includes(ownerInvitation)]).toEqual([400, false]);
  }
  const taken = await admin.post("/organization/accept-invitation", { invitationId: ownerInvitation });
  expect(taken.status).toBe(403);
});

verifies(
  hazard(29),
  "the open invitations of a person who is removed, or may not invite any more, let nobody in",
  async () => {
    const { url, owner, organizationId } = cast;
    const newcomer = async () => {
      const person = new TestUser(url);
      await person.signUp();
      return person;
    };
    const accepted = async (person: TestUser, { body }: { body: Record<string, unknown> }) =>
      (await person.post("/organization/accept-invitation", { invitationId: body["id"] as string })).status;
    const [leaving, falling] = [await newcomer(), await newcomer()];
    const friends = [await newcomer(), await newcomer(), await newcomer(), await newcomer()] as const;
    await join(leaving, "admin");
    await join(falling, "owner");
    const invitations = [
      await invite(leaving, friends[0].email, "admin"),
      await invite(falling, friends[1].email, "owner"),
      await invite(falling, friends[2].email, "admin"),
      await invite(owner, friends[3].email, "member"),
    ] as const;
    await owner.post("/organization/remove-member", { memberIdOrEmail: leaving.email, organizationId });
    const { body } = await owner.get(`/organization/list-members?organizationId=${organizationId}`);
    const members = body["members"] as { id: string; user: { email: string } }[];
    const memberId = members.find(({ user }) => user.email === falling.email)!.id;
    await owner.post("/organization/update-member-role", { memberId, role: "admin", organizationId });
    const statuses = [];
    for (const at of [0, 1, 2, 3] as const) statuses.push(await accepted(friends[at], invitations[at]));
    expect(statuses).toEqual([400, 400, 200, 200]);
  },
);

verifies(
  [hazard(26), hazard(27)],
  "another organization is answered as an absent one, and an id that is none as a mistake",
  async () => {
    const { url, organizationId, owner } = cast;
    const stranger = new TestUser(url);
    await stranger.signUp();
    const members = (await owner.get(`/organization/list-members?organizationId=${organizationId}`)).body["members"];
    const [{ id: memberId }] = members as [{ id: string }];
    const about = (orgId: string) => [
      ...[
        "get-full-organization",
        "get-organization",
        "list-members",
        "list-invitations",
        "get-active-member-role",
      ].map((path) => () => stranger.get(`/organization/${path}?organizationId=${orgId}`)),
      () => stranger.post("/organization/set-active", { organizationId: orgId }),
      () => stranger.post("/organization/update", { organizationId: orgId, data: { name: "x" } }),
      () => stranger.post("/organization/invite-member", { organizationId: orgId, email: address(), role: "member" }),
      () => stranger.post("/organization/update-member-role", { organizationId: orgId, memberId, role: "member" }),
      () => stranger.post("/organization/remove-member", { organizationId: orgId, memberIdOrEmail: memberId }),
      () => stranger.post("/organization/leave", { organizationId: orgId }),
      () => stranger.post("/organization/delete", { organizationId: orgId }),
      () =>
        stranger.post("/organization/has-permission", { organizationId: orgId, permissions: { member: ["create"] } }),
    ];
    const { slug } = (await owner.get(`/organization/get-organization?organizationId=${organizationId}`)).body;
    for (const path of ["get-full-organization", "get-organization"]) {
      const bySlug = (name: string) => stranger.get(`/organization/${path}?organizationSlug=${name}`);
      const [found, none] = [await bySlug(String(slug)), await bySlug("absent")];
      expect([found.status, found.text]).toEqual([none.status, none.text]);
    }
    const [theirs, absent, garbled] = [about(organizationId), about(randomUUID()), about("x'\"\0")];
    for (const [at, ask] of theirs.entries()) {
      const [found, none, wrong] = [await ask(), await absent[at]!(), await garbled[at]!()];
      expect([at, found.status, found.text]).toEqual([at, none.status, none.text]);
      expect([at, found.status >= 400 && found.status < 500, wrong.status]).toEqual([at, true, 400]);
    }
  },
);

test("nobody writes into another organization's audit log, and one's own tells where something happened", async () => {
  const { url, owner, organizationId } = cast;
  const stranger = new TestUser(url);
  await stranger.signUp({ organizationId });
  await stranger.signIn();
  await stranger.post("/sign-in/email", { email: stranger.email, password: "wrong password", organizationId });
  await stranger.post("/organization/create", { name: "Mine", slug: randomUUID(), organizationId });
  await stranger.post("/organization/check-slug", { slug: randomUUID(), organizationId });
  await stranger.post("/update-user", { name: "Eve", organizationId });
  const joining = new TestUser(url);
  await joining.signUp();
  await join(joining, "member");
  await joining.post("/organization/leave", { organizationId });
  await owner.post("/organization/set-active", { organizationId });
  const { events } = await rpcClient(url, await owner.accessToken()).audit.list.query({});
  const strangerId = ((await stranger.get("/get-session")).body["user"] as { id: string }).id;
  expect(events.filter(({ user_id: id }) => id === strangerId)).toEqual([]);
  const joiningId = ((await joining.get("/get-session")).body["user"] as { id: string }).id;
  const own = events.filter(({ user_id: id }) => id === joiningId).map(({ action }) => action);
  expect(own).toEqual(expect.arrayContaining(["organization/accept-invitation", "organization/leave"]));
});

test("a sign-out is written down with the person who signed out", async () => {
  const { url, organizationId, owner } = cast;
  const person = new TestUser(url, cast.member.email);
  await person.signIn();
  await person.post("/organization/set-active", { organizationId });
  const { id } = (await person.get("/get-session")).body["user"] as { id: string };
  await person.post("/sign-out", {});
  await owner.post("/organization/set-active", { organizationId });
  const { events } = await rpcClient(url, await owner.accessToken()).audit.list.query({});
  expect(events).toContainEqual(expect.objectContaining({ action: "sign-out", outcome: "done", user_id: id }));
});

/** An object so many levels deep. */
function nested(depth: number): object {
  let value = {};
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}

test("text that no database takes, names and nesting without end are refused as mistakes", async () => {
  const { owner, organizationId } = cast;
  const wrong: [string, object][] = [
    ["/organization/create", { name: "a\0b", slug: randomUUID() }],
    ["/organization/create", { name: "x".repeat(101), slug: randomUUID() }],
    ["/organization/create", { name: "x", slug: randomUUID(), logo: "x".repeat(5000) }],
    ["/organization/create", { name: "x", slug: randomUUID(), metadata: { deep: [{ "\0": 1 }] } }],
    ["/organization/update", { organizationId, data: { name: "x".repeat(101) } }],
    ["/organization/update", { organizationId, data: { slug: "\0" } }],
    ["/update-user", { name: "x".repeat(101) }],
    ["/sign-up/email", { name: "x".repeat(101), email: address(), password: "correct horse battery" }],
    ["/sign-up/email", { name: "x", email: address(), password: "x".repeat(5000) }],
    ["/organization/create", { name: "x", slug: randomUUID(), metadata: nested(30) }],
    ["/oauth2/register", { redirect_uris: ["http://127.0.0.1/\ud800"], token_endpoint_auth_method: "none" }],
    ["/change-password", { currentPassword: "\0", newPassword: "correct horse battery" }],
  ];
  for (const [path, body] of wrong)
    expect([path, body, (await owner.post(path, body)).status]).toEqual([path, body, 400]);
  expect(service().logged()).not.toContain("the identity provider failed");
});

test("what better-auth offers and the service does not is not there", async () => {
  const { owner } = cast;
  for (const path of [
    "/verify-password",
    "/oauth2/create-client",
    "/oauth2/update-client",
    "/oauth2/client/rotate-secret",
  ])
    for (const variant of [path, `${path}/`])
      expect([variant, (await owner.post(variant, { password: owner.password })).status]).toEqual([variant, 404]);
  expect((await owner.post("/organization/delete", { organizationId: cast.organizationId })).status).toBe(404);
  expect((await owner.post("/delete-user", { password: owner.password })).status).toBe(404);
});

test("a person's addresses and rights cannot be set from outside", async () => {
  const { url, organizationId } = cast;
  const person = new TestUser(url);
  const signedUp = await person.signUp({
    emailVerified: true,
    id: randomUUID(),
    role: "owner",
    activeOrganizationId: organizationId,
  });
  expect(signedUp.body["user"]).toMatchObject({ emailVerified: false });
  for (const more of [{ emailVerified: true }, { email: address() }, { id: randomUUID() }])
    await person.post("/update-user", { name: "x", ...more });
  await person.post("/update-session", { activeOrganizationId: organizationId });
  const { user, session } = (await person.get("/get-session")).body as Record<string, Record<string, unknown>>;
  expect(user).toMatchObject({ email: person.email, emailVerified: false });
  expect(session!["activeOrganizationId"] ?? null).toBeNull();
  expect((await new RestClient(url, await person.accessToken()).get("/v1/apps")).status).toBe(403);
});

test("nobody founds organizations without end, each with a plan of its own", async () => {
  const person = new TestUser(cast.url);
  await person.signUp();
  const statuses: number[] = [];
  for (let at = 0; at < 21; at += 1)
    statuses.push((await person.post("/organization/create", { name: "One more", slug: randomUUID() })).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 403]);
});

test("the link of an invitation is not written down", async () => {
  const { body } = await invite(cast.owner, address(), "member");
  const id = String(body["id"]);
  await fetch(`${cast.url}/invitations/${id}`);
  await cast.owner.get(`/organization/get-invitation?id=${id}`);
  expect(service().logged()).toContain("/invitations/…");
  expect(service().logged()).not.toContain(id);
});
