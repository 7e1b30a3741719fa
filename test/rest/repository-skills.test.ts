import { readdir } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { skillDocument, skillsOf } from "../support/service/skills.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let harness: Harness;
let folder: string;
const disposables = new AsyncDisposableStack();

beforeAll(async () => {
  folder = disposables.use(await temporaryFolder()).path;
  harness = disposables.use(await createHarness({ config: { gitBaseUrl: pathToFileURL(folder).href } }));
});

afterAll(() => disposables.disposeAsync());

const givenSkills = async () => skillsOf((await harness.tenant()).rest);

const FILES = {
  "README.md": "Skills",
  "skills/pdf/SKILL.md": skillDocument("pdf"),
  "skills/pdf/scripts/fill.py": "print(1)\n",
  "skills/pdf-forms/SKILL.md": skillDocument("pdf-forms"),
};

test("a skill is read from a folder of a repository, and names its source and commit", async () => {
  const { upload, files } = await givenSkills();
  const repository = await Repository.create(folder, "acme/skills");
  const commit = await repository.commitFiles(FILES);
  const stored = await upload("pdf", { repo: "acme/skills", path: "skills/pdf" });
  expect([stored.status, stored.body]).toMatchObject([
    200,
    { name: "pdf", source: "acme/skills:skills/pdf", commit, file_count: 2 },
  ]);
  expect((await files("pdf")).body["files"]).toMatchObject([{ path: "SKILL.md" }, { path: "scripts/fill.py" }]);
  const next = await repository.commitFiles({ "skills/pdf/SKILL.md": skillDocument("pdf", { body: "New" }) }, "next");
  const replaced = await upload("pdf", { repo: "acme/skills", branch: "next", path: "./skills/pdf/" });
  expect(replaced.body).toMatchObject({ source: "acme/skills@next:skills/pdf", commit: next, file_count: 1 });
  expect(await readdir(path.join(harness.dataDirectory, "skill-checkouts"))).toEqual([]);
});

test("a skill is read from the URL of its folder, where a person writes it", async () => {
  const { api_key: token } = await harness.tenant();
  const repository = await Repository.create(folder, "acme/linked");
  const commit = await repository.commitFiles(FILES, "trunk");
  const repo = `${pathToFileURL(folder).href}/acme/linked/tree/trunk/skills/pdf`;
  const stored = await rpcClient(harness.service.publicUrl, token).skills.upload.mutate({ name: "pdf", repo });
  expect(stored).toMatchObject({ name: "pdf", source: "acme/linked@trunk:skills/pdf", commit });
});

test("a skill is read from the root of a repository whose default branch is not main", async () => {
  const { upload } = await givenSkills();
  const repository = await Repository.create(folder, "acme/single");
  const commit = await repository.commitFiles({ "SKILL.md": skillDocument("single") }, "trunk");
  await repository.git(["symbolic-ref", "HEAD", "refs/heads/trunk"]);
  expect((await upload("single", { repo: "acme/single" })).body).toMatchObject({ source: "acme/single", commit });
});

test("a skill is read from a folder of a repository with another name", async () => {
  const { upload } = await givenSkills();
  await (await Repository.create(folder, "acme/renamed")).commitFiles({ "skills/a/SKILL.md": skillDocument("acme-a") });
  const stored = await upload("acme-a", { repo: "acme/renamed", branch: "main", path: "skills/a" });
  expect(stored.body).toMatchObject({ name: "acme-a", source: "acme/renamed@main:skills/a" });
});

test("links in a repository lead to no file of the host", async () => {
  const { upload, files } = await givenSkills();
  const repository = await Repository.create(folder, "acme/links");
  const link = (name: string, id: string) => ({ mode: "120000" as const, name, id });
  const document = await repository.blob(skillDocument("etc"));
  const etc = await repository.tree([
    { mode: "100644", name: "SKILL.md", id: document },
    link("passwd", await repository.blob("/etc/passwd")),
  ]);
  await repository.commit(
    await repository.tree([link("host", await repository.blob("/")), { mode: "40000", name: "etc", id: etc }]),
  );
  expect((await upload("etc", { repo: "acme/links", path: "etc" })).status).toBe(200);
  expect((await files("etc")).body["files"]).toMatchObject([{ path: "SKILL.md" }]);
  const outside = await upload("etc", { repo: "acme/links", path: "host/etc" });
  expect([outside.status, outside.body["error"]]).toEqual([400, expect.stringContaining("no files in the folder")]);
});

test("400 rejects a repository, a branch or a path without a skill, and stores nothing", async () => {
  const { upload, names } = await givenSkills();
  const repository = await Repository.create(folder, "acme/others");
  const many = Array.from({ length: 201 }, (_, index): [string, string] => [`many/${index}.txt`, ""]);
  await repository.commitFiles({ ...FILES, ...Object.fromEntries(many), "many/SKILL.md": skillDocument("many") });
  const repo = "acme/others";
  const invalid: [name: string, body: object, message: RegExp][] = [
    ["pdf", { repo: "acme" }, /repo: must have the form owner\/name/],
    ["pdf", { repo, branch: "a b" }, /branch: must not contain spaces/],
    ["pdf", { repo, path: "../pdf" }, /path: must not contain `\.\.`/],
    ["other", { repo, path: "skills/pdf" }, /its name is "pdf", but the name of the skill is "other"/],
    ["pdf", { repo, path: "absent/pdf" }, /path: the branch has no files in the folder "absent\/pdf"/],
    ["pdf", { repo }, /at most 200 files|but there are 3/],
    ["pdf", { repo, branch: "absent" }, /repo: The repository has no branch "absent"/],
    ["pdf", { repo: "acme/absent" }, /repo: The repository does not exist, or the service cannot read it/],
    ["many", { repo, path: "many" }, /at most 200 files/],
    ["skills", { repo, path: "skills" }, /there are 2/],
  ];
  for (const [name, body, message] of invalid) {
    const response = await upload(name, body);
    expect([body, response.status, response.body["error"]]).toEqual([body, 400, expect.stringMatching(message)]);
  }
  expect(await names()).toEqual([]);
});

test("an organization reads one repository at a time", async () => {
  const { upload } = await givenSkills();
  await (await Repository.create(folder, "acme/busy")).commitFiles(FILES);
  const uploads = ["pdf", "pdf-forms"].map((name) => upload(name, { repo: "acme/busy", path: `skills/${name}` }));
  const responses = await Promise.all(uploads);
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect(responses.map(({ body }) => body["error"] ?? "")).toContain(
    "The organization is uploading another skill from a repository. Wait until it is stored.",
  );
});
