import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const patch = (path: string, body: object) =>
  tenant.rest.send("PATCH", path, {
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });

let projects = 0;

/** Creates a project, and returns its id. */
async function givenProject(): Promise<string> {
  const { status, body } = await tenant.rest.post("/v1/projects", { name: `Project ${++projects}`, kind: "client" });
  expect(status).toBe(201);
  return String(body["project_id"]);
}

verifies(
  "project_documents.change",
  "a document of a project is added, read, changed, restored and deleted",
  async () => {
    const id = await givenProject();
    const path = `/v1/projects/${id}/documents`;
    const document = await tenant.rest.post(path, { content: "# Plan\n\nThe launch is in May." });
    expect([document.status, document.body]).toEqual([
      201,
      expect.objectContaining({ title: "Plan", kind: null, version: 1, status: "created", created_by: tenant.user_id }),
    ]);
    const documentPath = `${path}/${String(document.body["document_id"])}`;
    expect((await patch(documentPath, { content: "The launch is in June." })).body).toMatchObject({ version: 2 });
    const search = async (word: string) => (await tenant.rest.get(`/v1/projects/${id}/search?q=${word}`)).body["hits"];
    expect(await search("june")).toMatchObject([{ title: "Plan", snippet: expect.stringContaining("in June") }]);
    expect(await search("may")).toEqual([]);
    expect((await tenant.rest.get(`${documentPath}?version=1`)).body["content"]).toBe(
      "# Plan\n\nThe launch is in May.\n",
    );
    expect((await tenant.rest.get(`${documentPath}/versions`)).body["versions"]).toMatchObject([
      { number: 2 },
      { number: 1 },
    ]);
    expect((await tenant.rest.post(`${documentPath}/versions/1/restore`, {})).body).toMatchObject({ version: 3 });
    expect((await tenant.rest.get(path)).body["documents"]).toMatchObject([{ title: "Plan", version: 3 }]);
    expect((await tenant.rest.delete(documentPath)).body).toEqual({ status: "deleted" });
    expect([(await tenant.rest.get(documentPath)).status, await search("launch")]).toEqual([404, []]);
  },
);

test("an uploaded file is found by its text, and a file of the same name becomes a new version", async () => {
  const id = await givenProject();
  const upload = (text: string) =>
    tenant.rest.post(`/v1/projects/${id}/documents`, {
      file: { name: "terms/payment.html", content: Buffer.from(text).toString("base64") },
    });
  const first = await upload("<h1>Terms</h1><p>Invoices are due in 30 days.</p><script>alert(1)</script>");
  expect([first.status, first.body["version"]]).toEqual([201, 1]);
  const second = await upload("<h1>Terms</h1><p>Invoices are due in 14 days.</p>");
  expect(second.body).toMatchObject({ document_id: first.body["document_id"], version: 2 });
  const { body } = await tenant.rest.get(`/v1/projects/${id}/search?q=when%20are%20invoices%20due`);
  expect(body["hits"]).toMatchObject([{ snippet: expect.stringContaining("due in 14 days") }]);
  expect(JSON.stringify(body)).not.toContain("alert");
});

test("a document that is added while its project is deleted does not remain", async () => {
  const id = await givenProject();
  const path = `/v1/projects/${id}`;
  const content = "The launch is in May.";
  const [, ...added] = await Promise.all([
    tenant.rest.delete(path),
    ...Array.from({ length: 5 }, (_, n) => tenant.rest.post(`${path}/documents`, { title: `Plan ${n}`, content })),
  ]);
  for (const { status } of added) expect([201, 404]).toContain(status);
  const em = service().service.parts.orm.em.fork();
  expect(await em.execute("select 1 from documents where project_id = ?", [id])).toEqual([]);
});

verifies(
  "projects.search",
  "a search finds each document once, with its best passage and a rounded score",
  async () => {
    const id = await givenProject();
    const content = "# Handbook\n\n## Cats\n\nCats sleep all day.\n\n## Dogs\n\nDogs sleep under desks.";
    await tenant.rest.post(`/v1/projects/${id}/documents`, { title: "Handbook", content });
    await tenant.rest.post(`/v1/projects/${id}/documents`, { title: "Hotel", content: "Guests sleep late." });
    const search = async (query: string) => {
      const { body } = await tenant.rest.get(`/v1/projects/${id}/search?${query}`);
      return body["hits"] as { title: string; snippet: string; score: number }[];
    };
    const hits = await search("q=where%20do%20dogs%20sleep");
    expect(hits).toMatchObject([
      { title: "Handbook", snippet: expect.stringContaining("Dogs sleep under desks.") },
      { title: "Hotel" },
    ]);
    for (const { score } of hits) {
      expect(score).toBeGreaterThan(0);
      expect(score).toBeLessThan(100);
      expect(score).toBe(Number(score.toFixed(3)));
    }
    expect(await search("q=where%20do%20dogs%20sleep&limit=1")).toMatchObject([{ title: "Handbook" }]);
  },
);

test("400 an empty search is rejected", async () => {
  const id = await givenProject();
  const refused = await tenant.rest.get(`/v1/projects/${id}/search?q=`);
  expect([refused.status, refused.body]).toEqual([400, { error: expect.stringMatching(/^q: has 0 characters/) }]);
});

test("404 a document of another project, an unknown one and a malformed id get the same response", async () => {
  const [one, two] = [await givenProject(), await givenProject()];
  const added = await tenant.rest.post(`/v1/projects/${two}/documents`, { title: "Plan", content: "Secret" });
  const documentId = String(added.body["document_id"]);
  for (const id of [documentId, randomUUID(), "main"]) {
    const path = `/v1/projects/${one}/documents/${id}`;
    for (const refused of [
      await tenant.rest.get(path),
      await patch(path, { title: "Ours" }),
      await tenant.rest.delete(path),
      await tenant.rest.get(`${path}/versions`),
      await tenant.rest.post(`${path}/versions/1/restore`, {}),
    ])
      expect([refused.status, refused.body]).toEqual([404, { error: "Document not found." }]);
  }
});
