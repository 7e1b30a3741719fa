import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { ROLES, type Role } from "../../domain/shared/roles.ts";
import { appRouter } from "../../routers/index.ts";
import type { Tenant } from "../support/service/harness.ts";
import { joinOrganization, signUpOwner } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { skillsOf } from "../support/service/skills.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { FOR_NO_OBJECT, FOR_ONE_OBJECT, INPUTS, WITHOUT_INPUT } from "./procedure-inputs.ts";

const service = sharedHarness({ config: { signUp: "open" } });

interface Procedure {
  _def: {
    type: "query" | "mutation";
    inputs: { shape?: object }[];
    meta?: { access?: { role?: Role } };
  };
}

const PROCEDURES = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>);

/** Without the audit log, which also contains unknown ids that members of the organization tried. */
const LISTS = PROCEDURES.filter(
  ([path, { _def }]) => _def.type === "query" && ![...FOR_ONE_OBJECT, "audit.list"].includes(path),
).map(([path]) => path);

let tenant: Tenant;
let foreign: {
  app: { id: string; slug: string };
  tokenId: string;
  serverId: string;
  agentId: string;
  sessionId: string;
  documentId: string;
  sourceId: string;
  gitConnectionId: string;
  projectId: string;
  orgId: string;
};
let tokens: Record<Role, string>;

beforeAll(async () => {
  const { publicUrl } = service().service;
  tenant = await service().tenant();
  const other = await service().tenant();
  const app = await service().givenApp(other, { name: "foreignname" });
  const issued = await other.rest.post("/v1/tokens", { kind: "api_key", name: "foreignname" });
  // A specialized agent of a second server, both of which can be deleted.
  const server = await other.rest.post("/v1/servers", { name: "foreignname" });
  const serverId = String(server.body["server_id"]);
  const agent = await other.rest.post("/v1/agents", { server_id: serverId, name: "foreignname" });
  const agentId = String(agent.body["agent_id"]);
  const session = await other.rest.post(`/v1/agents/${agentId}/sessions`, { external_id: "foreignname" });
  const sessionId = String(session.body["session_id"]);
  const skill = await skillsOf(other.rest).uploadDocument("foreignname");
  if (skill.status !== 200) throw new Error(skill.text);
  const document = await other.rest.post("/v1/knowledge/documents", { kind: "faq", content: "foreignname" });
  const documentId = String(document.body["document_id"]);
  const source = await other.rest.post("/v1/knowledge/sources", {
    kind: "faq",
    url: "https://example.com/foreignname",
  });
  const sourceId = String(source.body["source_id"]);
  const host = { kind: "git", url: "https://foreignname.example.com", token: "foreignname" };
  const gitConnection = await other.rest.post("/v1/git-connections", host);
  const gitConnectionId = String(gitConnection.body["id"]);
  const project = await other.rest.post("/v1/projects", { name: "foreignname", kind: "client" });
  const projectId = String(project.body["project_id"]);
  foreign = {
    projectId,
    documentId,
    sourceId,
    gitConnectionId,
    app,
    tokenId: String(issued.body["id"]),
    serverId,
    agentId,
    sessionId,
    orgId: other.org_id,
  };
  const owner = await signUpOwner(service(), tenant);
  const join = async (role: Role): Promise<string> => {
    const user = new TestUser(publicUrl);
    await user.signUp();
    await joinOrganization(owner, user, { organizationId: tenant.org_id, role });
    return user.accessToken();
  };
  tokens = { owner: await owner.accessToken(), admin: await join("admin"), member: await join("member") };
});

/** The object of another organization that a procedure could be about. */
function foreignObjectOf(path: string): { id: string; slug: string } {
  const { app, tokenId, serverId, agentId, sessionId } = foreign;
  if (path.startsWith("knowledge.")) return { id: foreign.documentId, slug: "" };
  if (path.startsWith("gitConnections.")) return { id: foreign.gitConnectionId, slug: "" };
  if (path.startsWith("knowledgeSources.")) return { id: foreign.sourceId, slug: "" };
  if (/^project(s|Documents)\./.test(path)) return { id: foreign.projectId, slug: "" };
  if (path.startsWith("tokens.")) return { id: tokenId, slug: "" };
  if (path.startsWith("servers.") || path === "sessions.usage" || path === "agents.create")
    return { id: serverId, slug: "" };
  if (path.startsWith("skills.")) return { id: "foreignname", slug: "" };
  if (path.startsWith("sessions.") && !["sessions.open", "sessions.import"].includes(path))
    return { id: sessionId, slug: "" };
  return /^(agents|agentRuntimes|agentSkills|agentWorkspaces|execution|instructions|memories|sessions)\./.test(path)
    ? { id: agentId, slug: "" }
    : app;
}

interface CallResult {
  status: number;
  text: string;
}

async function call(path: string, input: object | null, token: string | null): Promise<CallResult> {
  const isQuery = (appRouter._def.procedures as unknown as Record<string, Procedure>)[path]?._def.type === "query";
  const { publicUrl } = service().service;
  const search = isQuery && input !== null ? `?input=${encodeURIComponent(JSON.stringify(input))}` : "";
  const response = await fetch(`${publicUrl}/trpc/${path}${search}`, {
    method: isQuery ? "GET" : "POST",
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), "content-type": "application/json" },
    ...(isQuery || input === null ? {} : { body: JSON.stringify(input) }),
  });
  return { status: response.status, text: await response.text() };
}

test("procedure-inputs.ts has an input for every procedure", () => {
  expect(PROCEDURES.map(([path]) => path).toSorted()).toEqual([...Object.keys(INPUTS), ...WITHOUT_INPUT].toSorted());
});

test("every procedure with an id or slug is tested with those of another organization", () => {
  // The name of a skill identifies it.
  const isId = (path: string, field: string) =>
    /^(id|app|slug|.*_id)$/.test(field) || (field === "name" && path.startsWith("skills."));
  const withId = PROCEDURES.filter(([path, { _def }]) =>
    _def.inputs.flatMap(({ shape }) => Object.keys(shape ?? {})).some((field) => isId(path, field)),
  ).map(([path]) => path);
  expect(withId.filter((path) => !FOR_NO_OBJECT.includes(path)).toSorted()).toEqual(FOR_ONE_OBJECT.toSorted());
});

verifies(
  [hazard(26), hazard(33)],
  "an id of another organization gets the same response as an unknown id, for every role and procedure",
  async () => {
    for (const role of ROLES)
      for (const path of FOR_ONE_OBJECT) {
        const object = foreignObjectOf(path);
        const unknown = { id: randomUUID(), slug: "absent-k7m2xq" };
        const callFor = async (one: typeof object) => {
          // An error of a deploy contains how many attempts are left.
          await service().service.parts.orm.em.fork().execute("delete from rate_limit_windows");
          return call(path, INPUTS[path]!(one), tokens[role]);
        };
        const [forForeign, forUnknown] = [await callFor(object), await callFor(unknown)];
        const withoutSlug = (result: CallResult, { slug }: { slug: string }) =>
          result.text.replaceAll(slug === "" ? "\0" : slug, "…");
        expect([path, role, forForeign.status, withoutSlug(forForeign, object)]).toEqual([
          path,
          role,
          forUnknown.status,
          withoutSlug(forUnknown, unknown),
        ]);
        expect([path, forForeign.status === 200]).toEqual([path, false]);
      }
  },
);

verifies(hazard(33), "no list contains an object of another organization, for every role and procedure", async () => {
  expect(LISTS).toContain("apps.list");
  for (const role of ROLES)
    for (const path of LISTS) {
      const { text } = await call(path, INPUTS[path]?.({ id: "", slug: "foreignname" }) ?? null, tokens[role]);
      const { app, ...ids } = foreign;
      for (const foreignId of [app.id, app.slug, ...Object.values(ids)])
        expect([path, text.includes(foreignId)]).toEqual([path, false]);
    }
});

verifies(
  hazard(23),
  "every procedure responds with 401 without a valid token, and with 403 to an insufficient role",
  async () => {
    for (const [path, { _def }] of PROCEDURES) {
      const input = INPUTS[path]?.(foreign.app) ?? null;
      for (const token of [null, "malformed", foreign.tokenId]) {
        const result = await call(path, input, token);
        expect([path, result.status, result.text]).toEqual([
          path,
          401,
          expect.stringContaining("Missing or invalid token"),
        ]);
      }
      const required = _def.meta?.access?.role ?? "member";
      for (const role of ROLES.slice(0, ROLES.indexOf(required)))
        expect([path, role, (await call(path, input, tokens[role])).status]).toEqual([path, role, 403]);
    }
  },
);

test("only admins and owners manage the tokens of the organization, and only owners read the audit log", async () => {
  const agent_id = await mainAgentId(tenant.rest);
  const issued = await call("tokens.issue", { kind: "api_key", name: "Ours" }, tokens.owner);
  const { id } = (JSON.parse(issued.text) as { result: { data: { id: string } } }).result.data;
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

test("400 names the invalid field and contains no stack trace", async () => {
  const invalid = await call("tokens.issue", { kind: "api_key", name: "" }, tokens.owner);
  expect([invalid.status, invalid.text]).toEqual([400, expect.stringContaining("name")]);
  expect(invalid.text).not.toMatch(/node_modules|\.ts:\d/);
});
