import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { appRouter } from "../../routers/index.ts";
import { hasBody, OPERATIONS } from "../../server/rest/operations.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { joinOrganization, signUpOwner } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ config: { signUp: "open" } });

const WITH_BODY = OPERATIONS.filter((operation) => hasBody(operation) || operation.method === "DELETE");
const PROCEDURES = Object.entries(
  appRouter._def.procedures as unknown as Record<string, { _def: { type: string; meta?: { access?: Access } } }>,
);
type Access = { scope?: string; role?: string };
const MUTATIONS = PROCEDURES.filter(([, { _def }]) => _def.type === "mutation");

const urlOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === "number" ? "1" : randomUUID()));
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const send = (target: string, headers: Record<string, string>) =>
  sendHeaders(service().service.publicUrl, target, { "content-type": "application/json", ...headers });

async function issueReadKey(tenant: Tenant): Promise<string> {
  const issued = await tenant.rest.post("/v1/tokens", { kind: "api_key", name: "reader", scope: "read" });
  return String(issued.body["token"]);
}

/** An access token of a user who is only a member of the organization. */
async function memberToken(tenant: Tenant): Promise<string> {
  const owner = await signUpOwner(service(), tenant);
  const member = new TestUser(service().service.publicUrl);
  await member.signUp();
  await joinOrganization(owner, member, { organizationId: tenant.org_id, role: "member" });
  return member.accessToken();
}

const statusesOf = async (targets: string[], headers: Record<string, string>) => {
  const statuses: Record<string, number> = {};
  for (const target of targets) statuses[target] = (await send(target, headers)).status;
  return statuses;
};

test("REST responds to every operation before the body arrives if the token has another kind or not the scope", async () => {
  const tenant = await service().tenant();
  const readKey = await issueReadKey(tenant);
  for (const operation of WITH_BODY) {
    const { method, path, access, streamedBody } = operation;
    const headers = { "content-type": streamedBody?.contentTypes[0] ?? "application/json" };
    const target = `${method} ${urlOf(path)}`;
    const otherKind = await send(target, { ...headers, ...bearer(tenant.personal_access_token) });
    expect([target, otherKind.status, otherKind.headers["connection"]]).toEqual([target, 401, "close"]);
    if (access.scope === "read") continue;
    const limited = await send(target, { ...headers, ...bearer(readKey) });
    expect([target, limited.status, limited.headers["connection"]]).toEqual([target, 403, "close"]);
    const challenge = `Bearer error="insufficient_scope", scope="${access.scope}"`;
    expect(limited.headers["www-authenticate"]).toBe(challenge);
  }
});

test("REST and typed RPC respond before the body arrives to a member who has not the role", async () => {
  const tenant = await service().tenant();
  const token = await memberToken(tenant);
  const operations = WITH_BODY.filter(({ access }) => access.role !== "member");
  const mutations = MUTATIONS.filter(([, { _def }]) => (_def.meta?.access?.role ?? "member") !== "member");
  const targets = [
    ...operations.map(({ method, path }) => `${method} ${urlOf(path)}`),
    ...mutations.map(([path]) => `POST /trpc/${path}`),
  ];
  expect(targets.length).toBeGreaterThan(2);
  expect(await statusesOf(targets, bearer(token))).toEqual(Object.fromEntries(targets.map((target) => [target, 403])));
});

test("typed RPC responds to every mutation before the body arrives if the token has another kind or not the scope", async () => {
  const tenant = await service().tenant();
  const readKey = await issueReadKey(tenant);
  for (const [path, { _def }] of MUTATIONS) {
    const target = `POST /trpc/${path}`;
    expect([path, (await send(target, bearer(tenant.personal_access_token))).status]).toEqual([path, 401]);
    if (_def.meta?.access?.scope === "read") continue;
    const limited = await send(target, bearer(readKey));
    expect([path, limited.status, limited.headers["connection"]]).toEqual([path, 403, "close"]);
    expect(limited.body).toContain('"errorCode":"forbidden"');
  }
});

test("typed RPC responds before the body arrives to a batch in which the token permits nothing, and to other requests without one", async () => {
  const tenant = await service().tenant();
  const readKey = await issueReadKey(tenant);
  const batch = await send("POST /trpc/apps.delete,apps.deploy,tokens.issue?batch=1", bearer(readKey));
  expect([batch.status, batch.body.match(/"errorCode":"forbidden"/g)?.length]).toEqual([403, 3]);
  const mixed = await send("POST /trpc/apps.list,apps.delete?batch=1", bearer(readKey));
  expect([mixed.status, mixed.headers["connection"]]).toEqual([400, "close"]);
  for (const [path, status] of [
    ["apps.list", 405],
    ["apps.nothing", 404],
    ["toString", 404],
  ])
    expect([path, (await send(`POST /trpc/${path}`, bearer(tenant.api_key))).status]).toEqual([path, status]);
});

test("the tool gateway responds before the body arrives if the token has another kind", async () => {
  const tenant = await service().tenant();
  for (const path of ["/mcp", "/mcp/"]) {
    const { status, headers } = await send(`POST ${path}`, bearer(tenant.api_key));
    expect([path, status, headers["connection"]]).toEqual([path, 401, "close"]);
  }
});

test("the audit log has calls that were rejected before their body arrived, with the object that the path names", async () => {
  const tenant = await service().tenant();
  const readKey = await issueReadKey(tenant);
  const { id } = await service().givenApp(tenant);
  expect((await send(`PATCH /v1/apps/${id}`, bearer(readKey))).status).toBe(403);
  expect((await send("POST /trpc/apps.delete", bearer(readKey))).status).toBe(403);
  const owner = await signUpOwner(service(), tenant);
  const { events } = await rpcClient(service().service.publicUrl, await owner.accessToken()).audit.list.query({});
  const refused = events.filter(({ outcome }) => outcome === "refused");
  expect(refused.map(({ action, target }) => [action, target]).toSorted()).toEqual([
    ["apps.delete", null],
    ["apps.update", id],
  ]);
});

test("a read-only key reads the response to a body of 200 kB, and its small requests keep the connection", async () => {
  const tenant = await service().tenant();
  const limited = tenant.rest.as(await issueReadKey(tenant));
  const large = await limited.send("POST", "/v1/apps/deploy", {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ repo: "x".repeat(200_000) }),
  });
  expect(large.status).toBe(403);
  const small = await limited.post("/v1/apps/deploy", { repo: "acme/site" });
  expect([small.status, small.headers.get("connection")]).toEqual([403, "keep-alive"]);
});

test("a request to an unknown URL is rejected before its body arrives", async () => {
  for (const target of ["POST /unknown", "PUT /mcp/unknown", "POST /api/unknown", "PATCH /trpc"])
    expect([target, (await send(target, {})).status]).toEqual([target, 404]);
});

/** In bytes. */
const BODY_SIZE = 20 * 1024 * 1024;

interface EarlyResponse {
  status: number;
  /** In lower case. */
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends a request that declares a body of 20 MiB, with the first bytes of the body only. Resolves when the server has responded
 * and closed its side of the connection, which it can do only if it does not wait for the rest.
 *
 * @param target - the method and the URL, such as `POST /v1/tokens`
 */
async function sendHeaders(origin: string, target: string, headers: Record<string, string>): Promise<EarlyResponse> {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ host, "content-length": String(BODY_SIZE), ...headers });
  socket.write(`${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n{"`);
  const [head = "", body = ""] = (await text(socket)).split(/\r\n\r\n([^]*)/);
  const [statusLine = "", ...fields] = head.split("\r\n");
  return {
    status: Number(statusLine.split(" ")[1]),
    headers: Object.fromEntries(fields.map((field) => splitField(field))),
    body,
  };
}

function splitField(field: string): [name: string, value: string] {
  const colon = field.indexOf(":");
  return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
}
