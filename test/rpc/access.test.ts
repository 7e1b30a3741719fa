import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { ROLES, type Role } from "../../domain/shared/caller.ts";
import { appRouter } from "../../routers/index.ts";
import type { Tenant } from "../support/service/harness.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });

interface Procedure {
  _def: {
    type: "query" | "mutation";
    inputs: { shape?: object }[];
    meta?: { access?: { role?: Role } };
  };
}

const PROCEDURES = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>);

/** An input for each procedure that takes one, about something with this id and slug. */
const INPUTS: Record<string, (about: { id: string; slug: string }) => object> = {
  "apps.deploy": () => ({ repo: "acme/site" }),
  "apps.get": ({ id }) => ({ id }),
  "apps.delete": ({ id }) => ({ id }),
  "apps.logs": ({ id }) => ({ id }),
  "apps.rotateToken": ({ id }) => ({ id }),
  "apps.browse": () => ({}),
  "audit.list": () => ({}),
  "execution.run": () => ({ code: "1" }),
  "procedures.invoke": ({ slug }) => ({ app: slug, procedure: "anything", input: {} }),
  "procedures.search": ({ slug }) => ({ query: slug }),
  "tokens.issue": () => ({ kind: "personal_access_token", name: "walk" }),
  "tokens.revoke": ({ id }) => ({ id }),
  "tokens.rotate": ({ id }) => ({ id, overlap: "none" }),
};
const WITHOUT_INPUT = ["apps.list", "tokens.list", "usage.get"];
/** What takes an id, and so can be asked about somebody else's. */
const ABOUT_ONE = [
  "apps.get",
  "apps.delete",
  "apps.logs",
  "apps.rotateToken",
  "procedures.invoke",
  "tokens.revoke",
  "tokens.rotate",
];

/** What has a field for an id or a slug and is about nothing of somebody else's: a filter, and a label. */
const ABOUT_NOTHING = ["procedures.search", "tokens.issue"];

/** The audit log also tells which ids the organization's own people tried. */
const LISTS = PROCEDURES.filter(
  ([path, { _def }]) => _def.type === "query" && ![...ABOUT_ONE, "audit.list"].includes(path),
).map(([path]) => path);

let tenant: Tenant;
let foreign: { app: { id: string; slug: string }; tokenId: string; orgId: string };
let tokens: Record<Role, string>;

beforeAll(async () => {
  const { publicUrl } = service().service;
  tenant = await service().tenant();
  const other = await service().tenant();
  const app = await service().givenApp(other, { name: "foreignname" });
  const made = await other.rest.post("/v1/tokens", { kind: "api_key", name: "foreignname" });
  foreign = { app, tokenId: String(made.body["id"]), orgId: other.org_id };
  const owner = new TestUser(publicUrl);
  const invitationId = await service().inviteOwner(tenant, owner.email);
  await owner.signUp();
  await owner.post("/organization/accept-invitation", { invitationId });
  const join = async (role: Role): Promise<string> => {
    const person = new TestUser(publicUrl);
    await person.signUp();
    const invitation = { email: person.email, role, organizationId: tenant.org_id };
    const { body } = await owner.post("/organization/invite-member", invitation);
    await person.post("/organization/accept-invitation", { invitationId: body["id"] as string });
    return person.accessToken();
  };
  tokens = { owner: await owner.accessToken(), admin: await join("admin"), member: await join("member") };
});

interface Called {
  status: number;
  text: string;
}

async function call(path: string, input: object | null, token: string | null): Promise<Called> {
  const query = (appRouter._def.procedures as unknown as Record<string, Procedure>)[path]?._def.type === "query";
  const { publicUrl } = service().service;
  const search = query && input !== null ? `?input=${encodeURIComponent(JSON.stringify(input))}` : "";
  const response = await fetch(`${publicUrl}/trpc/${path}${search}`, {
    method: query ? "GET" : "POST",
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), "content-type": "application/json" },
    ...(query || input === null ? {} : { body: JSON.stringify(input) }),
  });
  return { status: response.status, text: await response.text() };
}

test("every procedure is walked", () => {
  expect(PROCEDURES.map(([path]) => path).toSorted()).toEqual([...Object.keys(INPUTS), ...WITHOUT_INPUT].toSorted());
});

test("every procedure that can be asked about one thing is asked about somebody else's", () => {
  const asking = PROCEDURES.filter(([, { _def }]) =>
    _def.inputs.flatMap(({ shape }) => Object.keys(shape ?? {})).some((field) => /^(id|app|slug|.*_id)$/.test(field)),
  ).map(([path]) => path);
  expect(asking.filter((path) => !ABOUT_NOTHING.includes(path)).toSorted()).toEqual(ABOUT_ONE.toSorted());
});

verifies(
  [hazard(26), hazard(33)],
  "another organization's ids are answered as absent ones, whatever the role and procedure",
  async () => {
    for (const role of ROLES)
      for (const path of ABOUT_ONE) {
        const about = path.startsWith("tokens.") ? { id: foreign.tokenId, slug: "" } : foreign.app;
        const absent = { id: randomUUID(), slug: "absent-k7m2xq" };
        const [theirs, none] = [
          await call(path, INPUTS[path]!(about), tokens[role]),
          await call(path, INPUTS[path]!(absent), tokens[role]),
        ];
        const same = (answer: Called, { slug }: { slug: string }) =>
          answer.text.replaceAll(slug === "" ? "\0" : slug, "…");
        expect([path, role, theirs.status, same(theirs, about)]).toEqual([path, role, none.status, same(none, absent)]);
        expect([path, theirs.status === 200]).toEqual([path, false]);
      }
  },
);

verifies(hazard(33), "nothing that is listed is another organization's, whatever the role and procedure", async () => {
  for (const role of ROLES)
    for (const path of LISTS) {
      const { text } = await call(path, INPUTS[path]?.({ id: "", slug: "foreignname" }) ?? null, tokens[role]);
      for (const theirs of [foreign.app.id, foreign.app.slug, foreign.tokenId, foreign.orgId])
        expect([path, text.includes(theirs)]).toEqual([path, false]);
    }
});

verifies(
  hazard(23),
  "401 answers every procedure without a token, in one form, and 403 a role that does not reach",
  async () => {
    for (const [path, { _def }] of PROCEDURES) {
      const input = INPUTS[path]?.(foreign.app) ?? null;
      for (const token of [null, "garbled", foreign.tokenId]) {
        const answer = await call(path, input, token);
        expect([path, answer.status, answer.text]).toEqual([
          path,
          401,
          expect.stringContaining("Missing or invalid token"),
        ]);
      }
      const needed = _def.meta?.access?.role ?? "member";
      for (const role of ROLES.slice(0, ROLES.indexOf(needed)))
        expect([path, role, (await call(path, input, tokens[role])).status]).toEqual([path, role, 403]);
    }
  },
);

test("a role does what it may and no more: tokens of the organization are its admins', the audit log is its owners'", async () => {
  const agent_id = randomUUID();
  const made = await call("tokens.issue", { kind: "api_key", name: "Ours" }, tokens.owner);
  const { id } = (JSON.parse(made.text) as { result: { data: { id: string } } }).result.data;
  const allowed: [string, object | null, Record<Role, number>][] = [
    ["audit.list", {}, { owner: 200, admin: 403, member: 403 }],
    ["tokens.issue", { kind: "personal_access_token", name: "x" }, { owner: 200, admin: 200, member: 200 }],
    ["tokens.issue", { kind: "api_key", name: "x" }, { owner: 200, admin: 200, member: 403 }],
    ["tokens.issue", { kind: "gateway_token", name: "x", agent_id }, { owner: 200, admin: 200, member: 403 }],
    ["tokens.rotate", { id, overlap: "day" }, { owner: 200, admin: 200, member: 404 }],
    ["apps.list", null, { owner: 200, admin: 200, member: 200 }],
    ["apps.deploy", { repo: "acme/site" }, { owner: 200, admin: 200, member: 200 }],
  ];
  for (const [path, input, statuses] of allowed)
    for (const role of ROLES)
      expect([path, input, role, (await call(path, input, tokens[role])).status]).toEqual([
        path,
        input,
        role,
        statuses[role],
      ]);
  expect((await call("tokens.list", null, tokens.member)).text).not.toContain(id);
  expect((await call("tokens.revoke", { id }, tokens.member)).status).toBe(404);
  expect((await call("tokens.revoke", { id }, tokens.admin)).status).toBe(200);
});

test("a fault shows nothing of itself, and input that is wrong says what is", async () => {
  const wrong = await call("tokens.issue", { kind: "api_key", name: "" }, tokens.owner);
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining("name")]);
  expect(wrong.text).not.toMatch(/node_modules|\.ts:\d/);
});

test("a page of another site can do nothing with a person's cookies", async () => {
  const { publicUrl } = service().service;
  const person = new TestUser(publicUrl);
  await person.signUp();
  const elsewhere = { origin: "https://elsewhere.example.com" };
  for (const path of ["/sign-out", "/organization/create", "/change-password", "/device/approve"])
    expect([path, (await person.post(path, { name: "x", slug: "x" }, elsewhere)).status]).toEqual([path, 403]);
  expect((await person.get("/get-session")).body).toHaveProperty("user");
  const listed = await person.send("GET", "/trpc/apps.list");
  expect(listed.status).toBe(401);
});
