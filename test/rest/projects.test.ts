import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { ProjectDetail, ProjectView } from "../../domain/projects/list-projects.ts";
import type { HttpResponse } from "../support/clients/rest-client.ts";
import { givenAgent as createAgent } from "../support/service/given-agent.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const json = { "content-type": "application/json" };
const patch = (path: string, body: object, { rest } = tenant) =>
  rest.send("PATCH", path, { body: JSON.stringify(body), headers: json });
const put = (path: string, { rest } = tenant) => rest.send("PUT", path, { body: "{}", headers: json });
const givenAgent = async (owner = tenant) => (await createAgent(service().service.publicUrl, owner.rest)).id;

let names = 0;
const newName = () => `Project ${String(++names).padStart(4, "0")}`;

async function givenProject(fields: object = {}, owner = tenant): Promise<ProjectDetail> {
  const { status, body, text } = await owner.rest.post("/v1/projects", { name: newName(), kind: "client", ...fields });
  expect([status, text]).toEqual([201, expect.any(String)]);
  return body as unknown as ProjectDetail;
}

async function givenDocument(projectId: string, content: string, owner = tenant): Promise<string> {
  const { status, body } = await owner.rest.post(`/v1/projects/${projectId}/documents`, { title: "Plan", content });
  expect(status).toBe(201);
  return String(body["document_id"]);
}

verifies("projects.change", "a project is created with its agents, read, changed and deleted", async () => {
  const agentId = await givenAgent();
  const name = newName();
  const created = await givenProject({
    name,
    description: "Work for Acme",
    agent_ids: [agentId, agentId.toUpperCase()],
  });
  expect(created).toEqual({
    project_id: expect.any(String),
    name,
    kind: "client",
    description: "Work for Acme",
    document_count: 0,
    agents: [{ agent_id: agentId, name: "Agent" }],
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  });
  const path = `/v1/projects/${created.project_id}`;
  await givenDocument(created.project_id, "The launch is in May.");
  const changed = await patch(path, { kind: "engagement" });
  const after = { ...created, kind: "engagement", document_count: 1, updated_at: expect.any(String) };
  expect([changed.status, changed.body]).toEqual([200, after]);
  expect((await tenant.rest.get(path)).body).toEqual(after);
  const fields = { name: newName(), description: "Work for Globex" };
  expect((await patch(path, fields)).body).toEqual({ ...after, ...fields, updated_at: expect.any(String) });
  expect((await tenant.rest.delete(path)).body).toEqual({ status: "deleted" });
  expect([(await tenant.rest.get(path)).status, (await tenant.rest.delete(path)).status]).toEqual([404, 404]);
});

verifies("projects.change", "projects are listed by name, in pages, by kind and by agent", async () => {
  const owner = await service().tenant();
  const agentId = await givenAgent(owner);
  for (const [name, kind, agents] of [
    ["C", "client", []],
    ["A", "capability", [agentId]],
    ["B", "client", [agentId]],
  ] as const)
    await givenProject({ name, kind, agent_ids: agents }, owner);
  const list = async (query: string) => {
    const { body } = await owner.rest.get(`/v1/projects${query}`);
    return { names: (body["projects"] as ProjectView[]).map(({ name }) => name), next: body["next_cursor"] };
  };
  const first = await list("?limit=2");
  expect(first.names).toEqual(["A", "B"]);
  expect(await list(`?limit=2&cursor=${String(first.next)}`)).toEqual({ names: ["C"], next: null });
  expect(await list("?limit=3")).toEqual({ names: ["A", "B", "C"], next: null });
  expect((await list("?kind=client")).names).toEqual(["B", "C"]);
  expect((await list(`?agent_id=${agentId}`)).names).toEqual(["A", "B"]);
  expect((await list(`?agent_id=${randomUUID()}`)).names).toEqual([]);
});

test("409 two projects of an organization cannot have the same name, and those of two organizations can", async () => {
  const { name } = await givenProject();
  const other = await givenProject();
  for (const refused of [
    await tenant.rest.post("/v1/projects", { name, kind: "client" }),
    await patch(`/v1/projects/${other.project_id}`, { name }),
  ])
    expect([refused.status, refused.body]).toEqual([409, { error: expect.stringContaining("has this name") }]);
  expect((await patch(`/v1/projects/${other.project_id}`, { name: other.name })).status).toBe(200);
  await givenProject({ name }, await service().tenant());
});

/** The number of database sessions that wait for a lock. */
async function countBlocked(): Promise<number> {
  const blocked = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return (await service().service.parts.orm.em.fork().execute(blocked)).length;
}

test("409 a project cannot get the name of one that is being created at the same time", async () => {
  const agentId = await givenAgent();
  const name = newName();
  const create = (agents: string[]) => tenant.rest.post("/v1/projects", { name, kind: "client", agent_ids: agents });
  const requests = await service()
    .service.parts.orm.em.fork()
    .transactional(async (em) => {
      // The first request has stored the project, and waits for the agent.
      await em.execute("select id from agents where id = ? for update", [agentId]);
      const first = create([agentId]);
      await expect.poll(countBlocked).toBe(1);
      const second = create([]);
      await expect.poll(() => service().service.parts.connections.counts.waiting).toBe(1);
      return [first, second];
    });
  const responses = await Promise.all(requests);
  expect(responses.map(({ status }) => status)).toEqual([201, 409]);
});

verifies("projects.mount", "a project is mounted and unmounted, and repeating either changes nothing", async () => {
  const agentId = await givenAgent();
  const { project_id: id } = await givenProject();
  const path = `/v1/projects/${id}/agents/${agentId}`;
  const view = { project_id: id, agent_id: agentId };
  for (let n = 0; n < 2; n++) expect((await put(path)).body).toEqual({ ...view, mounted: true });
  expect((await tenant.rest.get(`/v1/projects/${id}`)).body["agents"]).toHaveLength(1);
  for (let n = 0; n < 2; n++) expect((await tenant.rest.delete(path)).body).toEqual({ ...view, mounted: false });
  expect((await tenant.rest.get(`/v1/projects/${id}`)).body["agents"]).toEqual([]);
});

test("409 at most 100 projects are mounted on an agent", async () => {
  const owner = await service().tenant();
  const agentId = await givenAgent(owner);
  const { project_id: id } = await givenProject({ agent_ids: [agentId] }, owner);
  await service()
    .service.parts.orm.em.fork()
    .execute("insert into project_mounts select ?, gen_random_uuid() from generate_series(1, 99)", [agentId]);
  const { project_id: another } = await givenProject({}, owner);
  const refused = await put(`/v1/projects/${another}/agents/${agentId}`, owner);
  expect([refused.status, refused.body]).toEqual([409, { error: expect.stringContaining("at most 100 projects") }]);
  expect((await put(`/v1/projects/${id}/agents/${agentId}`, owner)).status).toBe(200);
});

test("409 an organization has at most 1,000 projects", async () => {
  const owner = await service().tenant();
  await givenProject({}, owner);
  await service()
    .service.parts.orm.em.fork()
    .execute(
      `insert into projects select gen_random_uuid(), org_id, 'Copy ' || n, kind, description, created_at, updated_at
       from projects, generate_series(1, 999) n where org_id = ?`,
      [owner.org_id],
    );
  const refused = await owner.rest.post("/v1/projects", { name: "One more", kind: "client" });
  expect([refused.status, refused.body]).toEqual([409, { error: expect.stringContaining("at most 1000 projects") }]);
});

test("with a project, its documents, versions, passages, search index and mounts are deleted, and no others", async () => {
  const agentId = await givenAgent();
  const deleted = await givenProject({ agent_ids: [agentId] });
  const kept = await givenProject({ agent_ids: [agentId] });
  const documentId = await givenDocument(deleted.project_id, "The launch is in May.");
  await givenDocument(kept.project_id, "The launch is in June.");
  await tenant.rest.delete(`/v1/projects/${deleted.project_id}`);
  const em = service().service.parts.orm.em.fork();
  for (const [table, column, value] of [
    ["documents", "project_id", deleted.project_id],
    ["document_versions", "document_id", documentId],
    ["document_passages", "document_id", documentId],
    ["search_scopes", "owner_id", deleted.project_id],
    ["project_mounts", "project_id", deleted.project_id],
  ] as const)
    expect([table, await em.execute(`select 1 from ${table} where ${column} = ?`, [value])]).toEqual([table, []]);
  const { body } = await tenant.rest.get(`/v1/projects/${kept.project_id}/search?q=launch`);
  expect(body["hits"]).toHaveLength(1);
});

test("a project that is mounted while it is being deleted leaves no mount", async () => {
  const agentId = await givenAgent();
  const { project_id: id } = await givenProject();
  const { orm } = service().service.parts;
  // As `mountProject` does.
  const { deletion } = await orm.em.fork().transactional(async (em) => {
    await em.execute("select id from projects where id = ? for share", [id]);
    const deleted = tenant.rest.delete(`/v1/projects/${id}`);
    await expect.poll(countBlocked).toBe(1);
    await em.execute("insert into project_mounts (agent_id, project_id) values (?, ?)", [agentId, id]);
    return { deletion: deleted };
  });
  expect((await deletion).body).toEqual({ status: "deleted" });
  expect(await orm.em.fork().execute("select 1 from project_mounts where project_id = ?", [id])).toEqual([]);
});

test("with its agent, the mounts are deleted and the project stays", async () => {
  const agentId = await givenAgent();
  const { project_id: id } = await givenProject({ agent_ids: [agentId] });
  expect((await tenant.rest.delete(`/v1/agents/${agentId}`)).status).toBe(200);
  expect((await tenant.rest.get(`/v1/projects/${id}`)).body["agents"]).toEqual([]);
  const em = service().service.parts.orm.em.fork();
  expect(await em.execute("select 1 from project_mounts where agent_id = ?", [agentId])).toEqual([]);
});

test("404 a project of another organization, an unknown one and a malformed id get the same response", async () => {
  const other = await service().tenant();
  const foreign = await givenProject({}, other);
  const ids = [foreign.project_id, randomUUID(), "main"];
  const agentId = await givenAgent();
  const calls: ((id: string) => Promise<HttpResponse>)[] = [
    (id) => tenant.rest.get(`/v1/projects/${id}`),
    (id) => patch(`/v1/projects/${id}`, { name: "Ours" }),
    (id) => tenant.rest.delete(`/v1/projects/${id}`),
    (id) => put(`/v1/projects/${id}/agents/${agentId}`),
    (id) => tenant.rest.delete(`/v1/projects/${id}/agents/${agentId}`),
    (id) => tenant.rest.get(`/v1/projects/${id}/search?q=x`),
    (id) => tenant.rest.get(`/v1/projects/${id}/documents`),
    (id) => tenant.rest.post(`/v1/projects/${id}/documents`, { content: "x" }),
    (id) => tenant.rest.get(`/v1/projects/${id}/documents/${randomUUID()}`),
  ];
  for (const call of calls) {
    const responses = await Promise.all(ids.map(call));
    expect(responses.map(({ status, body }) => [status, body["error"]])).toEqual(
      ids.map(() => [404, "Project not found. projects_list lists the projects of an agent."]),
    );
  }
});

test("404 an agent of another organization, an unknown one and a malformed id get the same response", async () => {
  const { project_id: projectId } = await givenProject();
  const foreignAgent = await givenAgent(await service().tenant());
  for (const id of [foreignAgent, randomUUID(), "main"]) {
    const refused = await put(`/v1/projects/${projectId}/agents/${id}`);
    expect([refused.status, refused.body["error"]]).toEqual([404, expect.stringContaining("Agent not found")]);
  }
  const name = newName();
  const created = await tenant.rest.post("/v1/projects", { name, kind: "client", agent_ids: [foreignAgent] });
  expect([created.status, created.body["error"]]).toEqual([404, expect.stringContaining("Agent not found")]);
  await givenProject({ name });
});

const INVALID: [what: string, fields: object, message: RegExp][] = [
  ["no name", { name: undefined }, /^name: /],
  ["an empty name", { name: "" }, /^name: must be one line/],
  ["a long name", { name: "x".repeat(101) }, /^name: must be one line/],
  ["a name of two lines", { name: "a\nb" }, /^name: must be one line/],
  ["an unknown kind", { kind: "secret" }, /^kind: /],
  ["a long description", { description: "x".repeat(501) }, /^description: has 501 characters, and at most 500/],
  ["a description with NUL", { description: "a\0" }, /^description: must be Unicode text/],
  ["a malformed agent", { agent_ids: ["main"] }, /^agent_ids\.0: /],
  ["an unknown field", { owner: "me" }, /unknown field "owner"/],
];

test.each(INVALID)("400 a project with %s is rejected", async (_, fields, message) => {
  const refused = await tenant.rest.post("/v1/projects", { name: newName(), kind: "client", ...fields });
  expect([refused.status, refused.body]).toEqual([400, { error: expect.stringMatching(message) }]);
});

test.each([
  { name: "a\nb" },
  { name: "x".repeat(101) },
  { description: "x".repeat(501) },
  { description: "a\0" },
  { kind: "secret" },
])("400 a change to %j is rejected, and changes nothing", async (fields) => {
  const project = await givenProject();
  const path = `/v1/projects/${project.project_id}`;
  const refused = await patch(path, fields);
  const [field] = Object.keys(fields);
  expect([refused.status, refused.body]).toEqual([400, { error: expect.stringMatching(`^${field}: `) }]);
  expect((await tenant.rest.get(path)).body).toEqual(project);
});

test.each([
  "?limit=101",
  "?cursor=x",
  "?cursor=QQ==",
  `?cursor=${Buffer.from("a\nb").toString("base64url")}`,
  "?kind=x",
  "?agent_id=x",
])("400 a list with %s is rejected", async (query) => {
  expect((await tenant.rest.get(`/v1/projects${query}`)).status).toBe(400);
});
