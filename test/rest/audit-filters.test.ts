import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { RestClient } from "../support/clients/rest-client.ts";
import { signUpOwner } from "../support/identity/organization-members.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

const FOREIGN_USER = randomUUID();
const KEY = randomUUID();
const APP = randomUUID();
/** In the order of the list. `elsewhere`: events of another organization, and of a user who is not a member. */
const EVENTS = {
  deleteByUser: { hour: 9, action: "apps.delete", target: APP },
  deleteByKey: { hour: 8, action: "apps.delete", user: FOREIGN_USER, credential: KEY },
  failedSignIn: { hour: 7, action: "sign-in/email", org: null },
  deployByUser: { hour: 6, action: "apps.deploy" },
  deployByKey: { hour: 5, action: "apps.deploy", user: FOREIGN_USER, credential: KEY, target: APP },
};
type EventName = keyof typeof EVENTS;

let owner: { rest: RestClient; userId: string };
const ids = new Map<string, string>();

beforeAll(async () => {
  const tenant = await service().tenant();
  const user = await signUpOwner(service(), tenant);
  const { body } = await user.get("/get-session");
  const userId = (body["user"] as { id: string }).id;
  owner = { rest: new RestClient(service().service.publicUrl, await user.accessToken()), userId };
  const other = await service().tenant();
  const em = service().service.parts.orm.em.fork();
  await em.execute("delete from audit_events");
  const insert = async (
    event: { hour: number; action: string; user?: string; credential?: string; target?: string },
    org: string | null,
  ) => {
    const id = randomUUID();
    await em.execute(
      `insert into audit_events (id, org_id, user_id, credential_id, action, target, outcome, created_at) values (?, ?, ?, ?, ?, ?, 'done', ?)`,
      [id, org, event.user ?? userId, event.credential ?? null, event.action, event.target ?? null, at(event.hour)],
    );
    return id;
  };
  for (const [name, event] of Object.entries(EVENTS)) {
    ids.set(await insert(event, "org" in event ? null : tenant.org_id), name);
    await insert({ ...event, user: "user" in event ? FOREIGN_USER : userId }, other.org_id);
    await insert({ ...event, user: FOREIGN_USER }, null);
  }
});

function at(hour: number): string {
  return `2026-11-20T0${hour}:00:00.000Z`;
}

async function list(query: Record<string, string>) {
  const { status, body } = await owner.rest.get(`/v1/audit-events?${new URLSearchParams(query).toString()}`);
  const events = (body["events"] ?? []) as { id: string }[];
  return {
    status,
    error: body["error"],
    names: events.map(({ id }) => ids.get(id) ?? "an event of another organization"),
  };
}

test.each<[string, () => Record<string, string>, EventName[]]>([
  ["nothing", () => ({}), ["deleteByUser", "deleteByKey", "failedSignIn", "deployByUser", "deployByKey"]],
  ["a user", () => ({ user_id: owner.userId }), ["deleteByUser", "failedSignIn", "deployByUser"]],
  ["a user who is not a member", () => ({ user_id: FOREIGN_USER }), ["deleteByKey", "deployByKey"]],
  ["an unknown user", () => ({ user_id: randomUUID() }), []],
  ["a credential", () => ({ credential_id: KEY }), ["deleteByKey", "deployByKey"]],
  ["an action", () => ({ action: "apps.deploy" }), ["deployByUser", "deployByKey"]],
  ["an action without an organization", () => ({ action: "sign-in/email" }), ["failedSignIn"]],
  ["a target", () => ({ target: APP }), ["deleteByUser", "deployByKey"]],
  ["a target and an action", () => ({ target: APP, action: "apps.deploy" }), ["deployByKey"]],
  ["an unknown target", () => ({ target: randomUUID() }), []],
  ["the beginning of an action", () => ({ action: "apps" }), []],
  ["a start, which is included", () => ({ from: at(8) }), ["deleteByUser", "deleteByKey"]],
  ["an end, which is excluded", () => ({ to: at(6) }), ["deployByKey"]],
  [
    "a time with an offset",
    () => ({ from: "2026-11-20T07:00:00+01:00", to: "2026-11-20T09:00:00+01:00" }),
    ["failedSignIn", "deployByUser"],
  ],
  ["all of them", () => ({ user_id: owner.userId, action: "apps.deploy", from: at(5), to: at(9) }), ["deployByUser"]],
])("filtering the audit log by %s returns exactly the matching events", async (_filter, query, expected) => {
  expect(await list(query())).toEqual({ status: 200, error: undefined, names: expected });
});

test.each([
  [{ user_id: "ada" }, "user_id: must be the UUID of a user"],
  [{ credential_id: "\0" }, "credential_id: must be the credential_id of an event, such as the UUID of a token"],
  [{ action: "drop table" }, "action: must be an action, such as apps.delete or sign-in/email"],
  [{ from: "yesterday" }, "from: must be an RFC 3339 time with an offset, such as 2026-11-20T09:30:00Z"],
  [{ to: "2026-11-20T09:30:00" }, "to: must be an RFC 3339 time with an offset, such as 2026-11-20T09:30:00Z"],
  [{ from: "0000-01-01T00:00:00Z" }, "from: must be a time in the years 1 to 9999."],
  [{ to: "9999-12-31T23:59:59-01:00" }, "to: must be a time in the years 1 to 9999."],
  [{ from: at(9), to: at(9) }, "from: must be earlier than to."],
  [{ actor: "ada" }, 'unknown field "actor"'],
])("400 for the filter %j, with what is valid", async (query, error) => {
  expect(await list(query as Record<string, string>)).toEqual({ status: 400, error, names: [] });
});
