import { afterAll, beforeAll, expect, test } from "vitest";
import { KnowledgeSource } from "../../domain/knowledge-sources/knowledge-source.entity.ts";
import { DOCUMENTS, SOURCES, sourcesOf } from "../support/documents/knowledge-sources.ts";
import { type PublicSite, startPublicSite } from "../support/documents/public-site.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

let harness: Harness;
let site: PublicSite;
const disposables = new AsyncDisposableStack();

beforeAll(async () => {
  site = disposables.use(await startPublicSite());
  harness = disposables.use(await createHarness({ worker: true, publicFiles: site.files }));
});

afterAll(() => disposables.disposeAsync());

const page = (text: string, title = "Prices"): string =>
  `<!doctype html><title>${title}</title><nav>Menu</nav><main><h1>${title}</h1><p>${text}</p></main>`;

verifies(
  "knowledge.sources",
  "a page becomes a document with its main content, and a change of the page a new version",
  async () => {
    const sources = sourcesOf(await harness.tenant());
    const url = site.publish("/prices", page("The Team plan costs 49 euros."));
    const source = await sources.add({ url: `${url}#team` });
    expect(source).toMatchObject({ type: "url", url, status: "ready", error: null, document_count: 1, skipped: [] });
    const [document] = await sources.documents();
    expect(document).toMatchObject({
      ...{ title: "Prices", kind: "policy", file_name: "www.example.com/prices.html", version: 1 },
      source_id: source["source_id"],
    });
    expect(await sources.text(document!)).toBe("# Prices\n\nThe Team plan costs 49 euros.\n");
    site.publish("/prices", page("The Team plan costs 59 euros.", "New prices"));
    await sources.refresh(source);
    const [changed] = await sources.documents();
    expect(changed).toMatchObject({ document_id: document!.document_id, title: "New prices", version: 2 });
    expect(await sources.text(changed!)).toBe("# New prices\n\nThe Team plan costs 59 euros.\n");
    expect(await sources.answer("How much is the Team plan?")).toContain("59 euros");
  },
);

test("a page that has not changed is requested with what its host said of it, and stays as it is", async () => {
  const sources = sourcesOf(await harness.tenant());
  const url = site.publish("/same", page("The same."));
  const source = await sources.add({ url });
  const before = await sources.documents();
  const again = await sources.refresh(source);
  const [first, second] = site.requests.filter(({ path }) => path === "/same");
  expect(first?.headers["if-none-match"]).toBeUndefined();
  expect(second?.headers["if-none-match"]).toBe(site.pages.get("/same")?.headers?.["etag"]);
  expect(await sources.documents()).toEqual(before);
  expect(Date.parse(String(again["last_checked_at"]))).toBeGreaterThan(Date.parse(String(source["last_checked_at"])));
});

test("a source that cannot be read says why, keeps its documents, and follows the page again later", async () => {
  const sources = sourcesOf(await harness.tenant());
  const url = site.publish("/gone", page("Still here."));
  const source = await sources.add({ url });
  const before = await sources.documents();
  const failures: [
    page: { status: number; headers?: Record<string, string>; body?: string | Buffer },
    error: RegExp,
  ][] = [
    [{ status: 404 }, /^The URL cannot be read: www\.example\.com responded with status 404\.$/],
    [{ status: 302, headers: { location: "https://private.example.com/" } }, /has no public address\.$/],
    [{ status: 302, headers: { location: "http://www.example.com/" } }, /is not an https URL with a host name\.$/],
    [{ status: 200, headers: { "content-type": "image/png" } }, /states the type image\/png, which is not read/],
    [{ status: 200, headers: { "content-type": "text/html" }, body: "<main></main>" }, /the file has no text/],
    [{ status: 200, headers: { "content-type": "text/plain" }, body: Buffer.alloc(21 << 20, "a") }, /more than 20 MiB/],
  ];
  for (const [response, error] of failures) {
    site.pages.set("/gone", response);
    const failed = await sources.refresh(source);
    expect(failed).toMatchObject({ status: "failed", error: expect.stringMatching(error), document_count: 1 });
    expect(await sources.documents()).toEqual(before);
  }
  site.publish("/gone", page("Back again."));
  expect(await sources.refresh(source)).toMatchObject({ status: "ready", error: null });
  expect(await sources.documents()).toMatchObject([{ version: 2 }]);
});

test("a host with a private address is not read", async () => {
  const sources = sourcesOf(await harness.tenant());
  const source = await sources.add({ url: "https://private.example.com/prices" });
  expect(source).toMatchObject({ status: "failed", document_count: 0 });
  expect(source["error"]).toBe("The URL cannot be read: private.example.com has no public address.");
});

test("400 rejects what cannot be a source, and 409 a source that exists", async () => {
  const { rest } = await harness.tenant();
  const invalid: [location: object, message: RegExp][] = [
    [{}, /Send either url or repo/],
    [{ url: "https://example.com", repo: "acme/site" }, /not both/],
    [{ url: "http://example.com" }, /must be an https URL/],
    [{ url: "https://127.0.0.1/" }, /must be an https URL with a host name/],
    [{ url: "https://[::1]/" }, /must be an https URL with a host name/],
    [{ url: "https://2130706433/" }, /must be an https URL with a host name/],
    [{ url: "https://ada:secret@example.com/" }, /must have no credentials/],
    [{ url: `https://example.com/${"a".repeat(1000)}` }, /at most 1000 characters/],
    [{ repo: "acme" }, /repo: must have the form owner\/name/],
    [{ repo: "acme/site", branch: "a b" }, /branch: must not contain spaces/],
    [{ repo: "acme/site", path: "../etc" }, /path: must be a folder of the repository/],
  ];
  for (const [location, message] of invalid) {
    const { status, body } = await rest.post(SOURCES, { kind: "faq", ...location });
    expect([location, status, body["error"]]).toEqual([location, 400, expect.stringMatching(message)]);
  }
  const url = site.publish("/once", page("Once."));
  expect((await rest.post(SOURCES, { kind: "faq", url })).status).toBe(201);
  const again = await rest.post(SOURCES, { kind: "faq", url: `${url}#again` });
  expect([again.status, again.body["error"]]).toEqual([409, expect.stringContaining("has this location")]);
});

test("409 rejects more than 50 sources of an organization", async () => {
  const { rest, org_id: orgId } = await harness.tenant();
  const em = harness.service.parts.orm.em.fork();
  for (let n = 0; n < 50; n++)
    em.create(KnowledgeSource, {
      ...{ orgId, kind: "faq", language: "auto", url: `https://example.com/${n}`, path: "", status: "ready" },
      ...{ skipped: [], nextCheckAt: new Date(Date.now() + 3_600_000) },
    });
  await em.flush();
  const { status, body } = await rest.post(SOURCES, { kind: "faq", url: "https://example.com/more" });
  expect([status, body["error"]]).toEqual([409, expect.stringContaining("at most 50 sources")]);
});

test("two organizations that add the same page have a source and a document each, and see only their own", async () => {
  const [one, two] = [await harness.tenant(), await harness.tenant()];
  const url = site.publish("/shared", page("Shared."));
  const [first, second] = [await sourcesOf(one).add({ url }), await sourcesOf(two).add({ url })];
  const id = String(first["source_id"]);
  for (const response of [
    await two.rest.get(`${SOURCES}/${id}`),
    await two.rest.post(`${SOURCES}/${id}/refresh`, {}),
    await two.rest.delete(`${SOURCES}/${id}`),
  ])
    expect([response.status, response.body]).toEqual([404, { error: "Source not found." }]);
  expect((await two.rest.get(SOURCES)).body["sources"]).toMatchObject([{ source_id: second["source_id"] }]);
  expect((await one.rest.delete(`${SOURCES}/${id}`)).body).toEqual({ status: "deleted" });
  expect([await sourcesOf(one).documents(), (await one.rest.get(SOURCES)).body]).toEqual([[], { sources: [] }]);
  expect(await sourcesOf(one).answer("Shared")).toBeNull();
  expect(await sourcesOf(two).documents()).toHaveLength(1);
});

test("409 rejects a change of a document that follows a source, and an upload of the same name is another document", async () => {
  const tenant = await harness.tenant();
  const sources = sourcesOf(tenant);
  await sources.add({ url: site.publish("/fixed", page("Fixed.")) });
  const [document] = await sources.documents();
  const path = `${DOCUMENTS}/${document!.document_id}`;
  const headers = { "content-type": "application/json" };
  for (const response of [
    await tenant.rest.send("PATCH", path, { body: JSON.stringify({ content: "Mine" }), headers }),
    await tenant.rest.post(`${path}/versions/1/restore`, {}),
    await tenant.rest.delete(path),
  ])
    expect([response.status, response.body["error"]]).toEqual([409, expect.stringContaining("follows it")]);
  const file = { name: document!.file_name, content: Buffer.from("<p>Uploaded</p>").toString("base64") };
  const uploaded = await tenant.rest.post(DOCUMENTS, { kind: "faq", file });
  expect(uploaded.body).toMatchObject({ status: "created", source_id: null });
  expect(await sources.documents()).toHaveLength(2);
});

test("a source whose time has come is read by the sweep, also one that failed", async () => {
  const tenant = await harness.tenant();
  const sources = sourcesOf(tenant);
  const failed = await sources.add({ url: site.url("/later") });
  const current = await sources.add({ url: site.publish("/current", page("Current.")) });
  const em = harness.service.parts.orm.em.fork();
  await em.nativeUpdate(KnowledgeSource, { id: String(failed["source_id"]) }, { nextCheckAt: new Date(0) });
  site.publish("/later", page("Published later."));
  await harness.service.parts.boss.send("sweep", {});
  await waitFor(async () => expect(await sources.documents()).toHaveLength(2));
  const after = await sources.reading(String(failed["source_id"]));
  expect(Date.parse(String(after["next_check_at"]))).toBeGreaterThan(Date.now());
  expect(await sources.reading(String(current["source_id"]))).toEqual(current);
});
