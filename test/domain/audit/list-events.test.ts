import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { TargetKind } from "../../../domain/audit/audit-event.entity.ts";
import { findNames } from "../../../domain/audit/find-names.ts";
import { listEvents, type ListEventsRequest, validateTimeRange } from "../../../domain/audit/list-events.ts";
import { addEvent, type NewAuditEvent, recordEvent } from "../../../domain/audit/record-event.ts";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { issueToken } from "../../../domain/tokens/issue-token.ts";
import { connectOAuthClient } from "../../../domain/users/oauth-connections.ts";
import { givenMember, givenOAuthClient, givenUser } from "../../support/identity/given-user.ts";
import { nextMillisecond } from "../../support/next-millisecond.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const db = () => service().service.parts.db;
const deps = () => ({ em: em(), db: db() });

function callerOf({ org_id: orgId, user_id: userId }: Tenant, credentialId = "credential"): Caller {
  const credential = { kind: "api_key", id: credentialId } as const;
  return { orgId, userId, role: "owner", scope: "everything", credential };
}

const list = async (tenant: Tenant, request: ListEventsRequest = {}) =>
  (await listEvents({ db: db() }, callerOf(tenant), request)).events;

function eventOf({ org_id: orgId, user_id: userId }: Tenant, event: Partial<NewAuditEvent> = {}): NewAuditEvent {
  const about = { action: "apps.delete", outcome: "done", target: null, address: "192.0.2.1" } as const;
  return { ...about, orgId, userId, credential: { kind: "api_key", id: "key" }, ...event };
}

/** An object of each kind that an organization has, by its id. */
async function givenTargets(tenant: Tenant): Promise<Record<string, { kind: TargetKind; name: string }>> {
  const app = await service().givenApp(tenant, { name: "shop" });
  const token = await issueToken({ em: em() }, callerOf(tenant), { kind: "api_key", name: "CI", scope: "read" });
  const invitation = await service().inviteOwner(tenant, "ada@example.com");
  const client = await givenOAuthClient(em(), { name: "Editor" });
  const access = { userId: tenant.user_id, clientId: client, scope: "", organizationId: null, issuedAt: 0 };
  await connectOAuthClient(queryBuilderOf(em()), access, { requiresConsent: false });
  const [connection] = await em().execute<{ id: string }[]>(
    `select id from auth."oauthConnection" where "clientId" = ?`,
    [client],
  );
  const [organization] = await em().execute<{ name: string }[]>("select name from auth.organization where id = ?", [
    tenant.org_id,
  ]);
  return {
    [app.id]: { kind: "app", name: app.slug },
    [token.id]: { kind: "token", name: "CI" },
    [invitation]: { kind: "invitation", name: "ada@example.com" },
    [connection!.id]: { kind: "oauth_client", name: "Editor" },
    [tenant.org_id]: { kind: "organization", name: organization!.name },
  };
}

test("the names of all kinds of objects are found in their own organization, and in no other", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const targets = await givenTargets(tenant);
  const ids = [...Object.keys(targets), null, "not a UUID", tenant.user_id, randomUUID()];
  expect(Object.fromEntries(await findNames(db(), tenant.org_id, ids))).toEqual(targets);
  expect(await findNames(db(), other.org_id, ids)).toEqual(new Map());
  expect(await findNames(db(), null, ids)).toEqual(new Map());
  expect(await findNames(db(), tenant.org_id, [null, "x"])).toEqual(new Map());
});

test("an event keeps the names of its target and its credential, but no email address of an invitation", async () => {
  const tenant = await service().tenant();
  const targets = await givenTargets(tenant);
  const [tokenId] = Object.entries(targets).find(([, { kind }]) => kind === "token")!;
  for (const target of Object.keys(targets)) {
    await recordEvent(deps(), eventOf(tenant, { target, credential: { kind: "api_key", id: tokenId } }));
    await nextMillisecond();
  }
  const stored = await em().execute<Record<string, unknown>[]>(
    "select target, target_kind as kind, target_name as name, credential_name from audit_events where org_id = ?",
    [tenant.org_id],
  );
  const expected = Object.entries(targets).map(([target, { kind, name }]) => ({
    target,
    kind,
    name: kind === "invitation" ? null : name,
    credential_name: "CI",
  }));
  expect(new Set(stored)).toEqual(new Set(expected));
  const invitation = { target: null, target_kind: "invitation", target_name: null, target_email: "ada@example.com" };
  const shown = Object.entries(targets).map(([target, { kind, name }]) =>
    kind === "invitation" ? invitation : { target, target_kind: kind, target_name: name, target_email: null },
  );
  expect((await list(tenant)).toReversed()).toEqual(shown.map((fields) => expect.objectContaining(fields)));
});

test("the id of an invitation is not shown while the invitation can be accepted", async () => {
  const tenant = await service().tenant();
  const target = await service().inviteOwner(tenant, "ada@example.com");
  await recordEvent(deps(), eventOf(tenant, { target }));
  expect(await list(tenant)).toMatchObject([{ target: null, target_kind: "invitation" }]);
  await em().execute("update auth.invitation set status = 'accepted' where id = ?", [target]);
  expect(await list(tenant)).toMatchObject([{ target, target_kind: "invitation", target_email: "ada@example.com" }]);
});

test("an event shows its user, and the names of objects that it was recorded without", async () => {
  const tenant = await service().tenant();
  const targets = await givenTargets(tenant);
  const email = `${randomUUID()}@example.com`;
  const userId = await givenUser(em(), email);
  const [tokenId] = Object.entries(targets).find(([, { kind }]) => kind === "token")!;
  const events = [
    eventOf(tenant, { userId, target: userId, targetKind: "user" }),
    eventOf(tenant, { target: tenant.user_id, targetKind: "user" }),
    ...Object.keys(targets).map((target) => eventOf(tenant, { target, credential: { kind: "api_key", id: tokenId } })),
    eventOf(tenant, { userId: null, credential: null, target: "deleted", address: null }),
  ];
  await em().transactional(async (tx) => events.forEach((event) => addEvent(tx, event)));
  const shown = await list(tenant);
  const find = (target: string) => shown.find((event) => event.target === target);
  const user = { user_id: userId, user_name: "Ada", user_email: email };
  expect(find(userId)).toMatchObject({ ...user, target_kind: "user", target_name: "Ada", target_email: email });
  expect(find(tenant.user_id)).toMatchObject({ user_name: "Owner", user_email: null, target_email: null });
  for (const [target, { kind, name }] of Object.entries(targets).filter(([, { kind }]) => kind !== "invitation"))
    expect(find(target)).toMatchObject({ credential_name: "CI", target_kind: kind, target_name: name });
  expect(find("deleted")).toEqual({
    id: expect.any(String),
    user_id: null,
    user_name: null,
    user_email: null,
    credential_kind: null,
    credential_id: null,
    credential_name: null,
    action: "apps.delete",
    target: "deleted",
    target_kind: null,
    target_name: null,
    variable_name: null,
    target_email: null,
    outcome: "done",
    address: null,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

test("an event names its actor, and the user that it is about", async () => {
  const tenant = await service().tenant();
  const [actor, other] = [
    await givenUser(em(), `${randomUUID()}@a.com`),
    await givenUser(em(), `${randomUUID()}@b.com`),
  ];
  await recordEvent(deps(), eventOf(tenant, { userId: actor, target: other, targetKind: "user" }));
  const [event] = await list(tenant);
  expect(event).toMatchObject({
    user_id: actor,
    user_name: "Ada",
    user_email: expect.stringMatching(/@a\.com$/),
    credential_kind: "api_key",
    credential_id: "key",
    target: other,
    target_kind: "user",
    target_name: "Ada",
    target_email: expect.stringMatching(/@b\.com$/),
  });
});

test("an event without a credential and a target is recorded, and a page of exactly 100 events is the last one", async () => {
  const tenant = await service().tenant();
  const event = eventOf(tenant, { credential: null, target: null });
  await recordEvent(deps(), event);
  expect(await list(tenant)).toMatchObject([{ credential_kind: null, credential_id: null, target: null }]);
  await em().transactional(async (tx) => {
    for (let n = 1; n < 100; n++) addEvent(tx, event);
  });
  const page = await listEvents({ db: db() }, callerOf(tenant), {});
  expect([page.events.length, page.next_cursor]).toEqual([100, null]);
});

test("the events of a user include those without an organization, and no events of other members", async () => {
  const tenant = await service().tenant();
  const members = [await givenUser(em()), await givenUser(em())];
  for (const userId of members) {
    await givenMember(em(), { orgId: tenant.org_id, userId, role: "member" });
    await recordEvent(deps(), eventOf(tenant, { orgId: null, userId, action: "sign-in/email" }));
    await recordEvent(deps(), eventOf(tenant, { userId }));
  }
  const events = await list(tenant, { user_id: members[0]! });
  expect(events.map(({ user_id, action }) => [user_id, action]).toSorted()).toEqual([
    [members[0], "apps.delete"],
    [members[0], "sign-in/email"],
  ]);
});

test("a page has the newest events of the organization and of its members, and the cursor of the next one", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const member = await givenUser(em());
  await givenMember(em(), { orgId: tenant.org_id, userId: member, role: "member" });
  const insert = (orgId: string | null, userId: string | null, count: number, startSecond: number) =>
    em().execute(
      `insert into audit_events (id, org_id, user_id, credential_id, action, outcome, created_at)
       select gen_random_uuid(), ?, ?, 'key', 'apps.deploy', 'done', timestamptz '2026-01-01' + (? + n / 2) * interval '1 second'
       from generate_series(1, ?) n`,
      [orgId, userId, startSecond, count],
    );
  await insert(tenant.org_id, null, 120, 0);
  await insert(null, member, 100, 30);
  await insert(null, other.user_id, 10, 0);
  await insert(other.org_id, member, 10, 0);
  const pages = [await listEvents({ db: db() }, callerOf(tenant), {})];
  for (let cursor = pages[0]!.next_cursor; cursor !== null; cursor = pages.at(-1)!.next_cursor)
    pages.push(await listEvents({ db: db() }, callerOf(tenant), { cursor }));
  expect(pages.map(({ events }) => events.length)).toEqual([100, 100, 20]);
  const all = pages.flatMap(({ events }) => events);
  const order = all.map(({ created_at: at, id }) => `${at} ${id}`);
  expect(order).toEqual(order.toSorted().toReversed());
  expect(new Set(order).size).toBe(220);
  expect((await listEvents({ db: db() }, callerOf(tenant), { user_id: member })).events).toHaveLength(100);
  const range = { from: "2026-01-01T00:00:10Z", to: "2026-01-01T00:00:12Z" };
  const times = (await list(tenant, range)).map(({ created_at: at }) => at.slice(17, 19));
  expect(times).toEqual(["11", "11", "10", "10"]);
});

test("events can be filtered by user, credential and action", async () => {
  const tenant = await service().tenant();
  const userId = await givenUser(em());
  await recordEvent(deps(), eventOf(tenant, { target: "one", userId }));
  await recordEvent(deps(), eventOf(tenant, { target: "two", credential: { kind: "api_key", id: "another" } }));
  await recordEvent(deps(), eventOf(tenant, { target: "three", action: "tokens.issue" }));
  const targets = async (request: ListEventsRequest) => (await list(tenant, request)).map(({ target }) => target);
  expect(await targets({ user_id: userId })).toEqual(["one"]);
  expect(await targets({ credential_id: "another" })).toEqual(["two"]);
  expect(await targets({ action: "tokens.issue" })).toEqual(["three"]);
  expect(await targets({ action: "tokens.issue", user_id: userId })).toEqual([]);
});

test("a text of an event is cut after 255 characters", async () => {
  const tenant = await service().tenant();
  const long = "x".repeat(300);
  await recordEvent(
    deps(),
    eventOf(tenant, { target: long, address: long, credential: { kind: "api_key", id: long } }),
  );
  const [event] = await list(tenant);
  for (const text of [event!.target, event!.address, event!.credential_id]) expect(text).toBe("x".repeat(255));
});

test("a time range is in UTC, in the years 1 to 9999, and not empty", () => {
  expect(validateTimeRange({})).toEqual({ from: undefined, to: undefined });
  expect(validateTimeRange({ from: "2026-01-01T01:00:00+01:00", to: "9999-12-31T23:59:59Z" })).toEqual({
    from: "2026-01-01T00:00:00.000Z",
    to: "9999-12-31T23:59:59.000Z",
  });
  expect(validateTimeRange({ from: "0001-01-01T00:00:00Z" }).from).toBe("0001-01-01T00:00:00.000Z");
  for (const time of ["0000-12-31T23:59:59Z", "+010000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00", "yesterday"])
    for (const name of ["from", "to"])
      expect(() => validateTimeRange({ [name]: time })).toThrow(
        expect.objectContaining({ code: "invalid", message: expect.stringMatching(`^${name}: `) }),
      );
  const moment = "2026-01-01T00:00:00Z";
  for (const from of [moment, "2026-01-01T00:00:01Z"])
    expect(() => validateTimeRange({ from, to: moment })).toThrow(expect.objectContaining({ code: "invalid" }));
});
