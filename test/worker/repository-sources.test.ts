import type { IncomingMessage } from "node:http";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../domain/plans/plans.ts";
import { gitServer } from "../support/builds/git-server.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { DOCUMENTS, sourcesOf } from "../support/documents/knowledge-sources.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { verifies } from "../support/verifies.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let harness: Harness;
let folder: string;
/** How many times contents of repositories were fetched, by the path of the request. */
const fetches = new Map<string, number>();
let host: string;
const disposables = new AsyncDisposableStack();

/** A fetch of contents, and a question about branches, are requests to the same path. */
function countFetches(request: IncomingMessage): boolean {
  const { pathname } = new URL(request.url ?? "/", "http://host");
  if (pathname.endsWith("/git-upload-pack")) fetches.set(pathname, (fetches.get(pathname) ?? 0) + 1);
  return false;
}

beforeAll(async () => {
  folder = disposables.use(await temporaryFolder()).path;
  host = disposables.use(await gitServer(folder, countFetches)).url;
  harness = disposables.use(await createHarness({ worker: true, config: { gitBaseUrl: host, plans: PLANS } }));
});

afterAll(() => disposables.disposeAsync());

const PLANS = {
  scale: { ...DEFAULT_LIMITS, apps: 10 },
  small: { ...DEFAULT_LIMITS, apps: 1, documents: 2 },
};

const FILES = {
  "README.md": "Not in the folder",
  "docs/travel.md": "# Travel\n\nBook trains.",
  "docs/leave/parental.txt": "Parental leave is 14 months.",
  "docs/.hidden.md": "Hidden",
  "docs/build.ts": "export {};",
  "docs/broken.pdf": "not a PDF file",
};

verifies(
  "knowledge.sources",
  "the files in a folder of a repository become documents, which follow its commits",
  async () => {
    const sources = sourcesOf(await harness.tenant());
    const repository = await Repository.create(folder, "acme/handbook");
    const commit = await repository.commitFiles(FILES);
    const source = await sources.add({ repo: "acme/handbook", path: "docs/" });
    expect(source).toMatchObject({
      ...{ type: "repository", repo: "acme/handbook", branch: null, path: "docs", status: "ready", commit },
      ...{ document_count: 2, left_out: 2, skipped_count: 1, skipped: [{ file: "broken.pdf" }] },
    });
    const first = await sources.documents();
    expect(first.map((document) => document.file_name).toSorted()).toEqual(["leave/parental.txt", "travel.md"]);
    expect(await sources.answer("How long is parental leave?")).toContain("14 months");
    const { "docs/leave/parental.txt": _, ...remaining } = FILES;
    const changes = { "docs/travel.md": "# Travel\n\nBook flights.", "docs/new.md": "# New\n\nText." };
    const next = await repository.commitFiles({ ...remaining, ...changes });
    expect(await sources.refresh(source)).toMatchObject({ commit: next, document_count: 2 });
    const travel = first.find((each) => each.file_name === "travel.md");
    expect(await sources.documents()).toMatchObject([
      { file_name: "new.md", version: 1 },
      { file_name: "travel.md", version: 2, document_id: travel?.document_id },
    ]);
    expect(await sources.answer("How long is parental leave?")).toBeNull();
    expect(await readdir(path.join(harness.dataDirectory, "skill-checkouts"))).toEqual([]);
  },
);

test("a file that has not changed keeps its version, and a file that is moved is another document", async () => {
  const sources = sourcesOf(await harness.tenant());
  const repository = await Repository.create(folder, "acme/moved");
  await repository.commitFiles({ "a.md": "# A\n\nFirst.", "b.md": "# B\n\nSecond." });
  const source = await sources.add({ repo: "acme/moved" });
  const before = await sources.documents();
  await repository.commitFiles({ "a.md": "# A\n\nFirst.", "c/b.md": "# B\n\nSecond." });
  await sources.refresh(source);
  const after = await sources.documents();
  expect(after[0]).toEqual(before[0]);
  expect(after).toMatchObject([{ file_name: "a.md" }, { file_name: "c/b.md", version: 1 }]);
  expect(await sources.refresh(source)).toMatchObject({ status: "ready", document_count: 2 });
  expect(await sources.documents()).toEqual(after);
});

test("a repository without a new commit is asked for it, and its contents are not fetched again", async () => {
  const sources = sourcesOf(await harness.tenant());
  const repository = await Repository.create(folder, "acme/quiet");
  await repository.commitFiles({ "a.md": "# A\n\nFirst." });
  const source = await sources.add({ repo: "acme/quiet" });
  const requests = () => fetches.get("/acme/quiet/git-upload-pack") ?? 0;
  const first = requests();
  expect(await sources.refresh(source)).toMatchObject({ status: "ready", document_count: 1 });
  // The question is one request, and a fetch is another one after it.
  expect(requests() - first).toBe(1);
  expect(first).toBeGreaterThan(1);
  const next = await repository.commitFiles({ "a.md": "# A\n\nSecond." });
  expect(await sources.refresh(source)).toMatchObject({ status: "ready", commit: next });
  expect(await sources.documents()).toMatchObject([{ file_name: "a.md", version: 2 }]);
});

test("a repository that cannot be read says why and keeps its documents", async () => {
  const sources = sourcesOf(await harness.tenant());
  const repository = await Repository.create(folder, "acme/lost");
  await repository.commitFiles({ "docs/a.md": "# A\n\nText." }, "next");
  const source = await sources.add({ repo: "acme/lost", branch: "next", path: "docs" });
  const before = await sources.documents();
  await repository.commitFiles({ "other/a.md": "# A\n\nText." }, "next");
  const moved = await sources.refresh(source);
  expect(moved).toMatchObject({ status: "failed", document_count: 1 });
  expect(moved["error"]).toBe('The folder "docs" of the branch does not exist or has no documents.');
  await repository.git(["update-ref", "-d", "refs/heads/next"]);
  expect(await sources.refresh(source)).toMatchObject({ error: expect.stringContaining('no branch "next"') });
  expect(await sources.documents()).toEqual(before);
});

test("a folder with too many documents is not read, and its documents stay", async () => {
  const sources = sourcesOf(await harness.tenant());
  const repository = await Repository.create(folder, "acme/large");
  await repository.commitFiles({ "a.md": "# A\n\nText." });
  const source = await sources.add({ repo: "acme/large" });
  const many = Array.from({ length: 2001 }, (_, n): [string, string] => [`${n}.md`, `Text ${n}`]);
  await repository.commitFiles(Object.fromEntries(many));
  const large = await sources.refresh(source);
  expect(large).toMatchObject({ status: "failed", document_count: 1 });
  expect(large["error"]).toBe(
    "The branch has more than 2000 documents, which is the limit of a source. Add its folders as sources.",
  );
});

test("a source is added with the URL of a folder of the git host, where a person writes it", async () => {
  const { api_key: token } = await harness.tenant();
  await (await Repository.create(folder, "acme/linked")).commitFiles(FILES, "trunk");
  const repo = `${host}/acme/linked/tree/trunk/docs`;
  const client = rpcClient(harness.service.publicUrl, token);
  const added = await client.knowledgeSources.add.mutate({ kind: "sop", repo });
  expect(added).toMatchObject({ repo: "acme/linked", branch: "trunk", path: "docs" });
});

test("documents that the plan does not allow are named, and stored once it does", async () => {
  const tenant = await harness.tenant({ plan: "small" });
  const sources = sourcesOf(tenant);
  const uploaded = await tenant.rest.post(DOCUMENTS, { kind: "faq", content: "Mine" });
  await (await Repository.create(folder, "acme/quota")).commitFiles({ "a.md": "# A\n\nOne.", "b.md": "# B\n\nTwo." });
  const source = await sources.add({ repo: "acme/quota" });
  expect(source).toMatchObject({ status: "ready", document_count: 1, skipped_count: 1, commit: null });
  expect(source["skipped"]).toMatchObject([{ file: "b.md", error: expect.stringContaining("allows 2 documents") }]);
  await tenant.rest.delete(`${DOCUMENTS}/${String(uploaded.body["document_id"])}`);
  expect(await sources.refresh(source)).toMatchObject({ document_count: 2, skipped_count: 0, skipped: [] });
});
