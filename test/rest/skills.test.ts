import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { EnabledSkill } from "../../domain/agents/enabled-skill.entity.ts";
import { AuditEvent } from "../../domain/audit/audit-event.entity.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { nextMillisecond } from "../support/next-millisecond.ts";
import { requires, skillDocument, skillsOf } from "../support/service/skills.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

async function givenTenant() {
  const tenant = await service().tenant();
  return { tenant, agentId: await mainAgentId(tenant.rest), ...skillsOf(tenant.rest) };
}

const BINARY = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]).toString("base64");

verifies("skills.change", "a skill is stored with its files, and is listed, read and deleted", async () => {
  const { tenant, upload, get, files, remove, names } = await givenTenant();
  const document = skillDocument("pdf-forms", {
    description: "Fills forms.\nUse it for PDF files.",
    frontmatter: `license: MIT\ncompatibility: Requires git\nallowed-tools: Bash(git:*) Read\n${requires({ requires: { bins: ["pdftk"] } })}`,
  });
  const uploaded = [
    { path: "SKILL.md", content: document, encoding: "utf-8" },
    { path: "assets/icon.png", content: BINARY, encoding: "base64" },
    { path: "scripts/fill.py", content: "print('Zürich')\n", encoding: "utf-8" },
  ];
  const stored = await upload("pdf-forms", { files: uploaded });
  const summary = {
    name: "pdf-forms",
    description: "Fills forms.\nUse it for PDF files.",
    source: "upload",
    commit: null,
    requirements: { binaries: ["pdftk"], any_binaries: [], environment: [], configuration: [], platforms: [] },
    content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    file_count: 3,
    size_bytes: Buffer.byteLength(document) + 6 + 17,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  };
  expect([stored.status, stored.body]).toEqual([
    200,
    {
      ...summary,
      license: "MIT",
      compatibility: "Requires git",
      allowed_tools: "Bash(git:*) Read",
      metadata: { openclaw: { requires: { bins: ["pdftk"] } } },
      files: [
        { path: "SKILL.md", size_bytes: Buffer.byteLength(document) },
        { path: "assets/icon.png", size_bytes: 6 },
        { path: "scripts/fill.py", size_bytes: 17 },
      ],
      warnings: [],
    },
  ]);
  const { warnings: _ofTheUpload, ...skill } = stored.body;
  expect((await get("pdf-forms")).body).toEqual(skill);
  expect((await tenant.rest.get("/v1/skills")).body).toEqual({ skills: [summary], next_cursor: null });
  expect((await files("pdf-forms")).body).toEqual({ files: uploaded });
  expect((await files("pdf-forms", "assets/icon.png")).body).toEqual({ files: [uploaded[1]] });
  expect((await remove("pdf-forms")).body).toEqual({ status: "deleted" });
  expect(await names()).toEqual([]);
});

test("an upload replaces the skill of the same name as a whole, which stays enabled", async () => {
  const { agentId, upload, uploadDocument, files, enable, get } = await givenTenant();
  const first = await upload("notes", {
    files: [
      { path: "notes/SKILL.md", content: skillDocument("notes") },
      { path: "notes/old.txt", content: "old" },
    ],
  });
  await enable(agentId, "notes");
  await nextMillisecond();
  await uploadDocument("notes", { description: "New" });
  expect((await files("notes")).body["files"]).toMatchObject([{ path: "SKILL.md" }]);
  const { body } = await get("notes");
  expect(body).toMatchObject({ description: "New", file_count: 1, created_at: first.body["created_at"] });
  expect(body["content_hash"]).not.toBe(first.body["content_hash"]);
  expect(String(body["updated_at"]) > String(first.body["updated_at"])).toBe(true);
  expect(await em().count(EnabledSkill, { agentId })).toBe(1);
});

test("the content hash depends on the paths and the contents of all files", async () => {
  const { upload } = await givenTenant();
  const versions = [
    [],
    [["a", "xy"]],
    [["b", "xy"]],
    [["a", "yx"]],
    [["a", "x"]],
    [
      ["a", "x"],
      ["b", "y"],
    ],
  ];
  const hashes: unknown[] = [];
  for (const files of versions) {
    const further = files.map(([path, content]) => ({ path, content }));
    const { body } = await upload("notes", {
      files: [{ path: "SKILL.md", content: skillDocument("notes") }, ...further],
    });
    hashes.push(body["content_hash"]);
  }
  expect(new Set(hashes).size).toBe(versions.length);
  const again = await upload("notes", { files: [{ path: "SKILL.md", content: skillDocument("notes") }] });
  expect(again.body["content_hash"]).toBe(hashes[0]);
});

test("an upload with an expected hash that is not the current one is rejected, and nothing changes", async () => {
  const { upload, uploadDocument, get } = await givenTenant();
  await uploadDocument("another");
  const files = [{ path: "SKILL.md", content: skillDocument("hashed") }];
  const changed = [...files, { path: "notes.txt", content: "x" }];
  const absent = await upload("hashed", { files, expected_hash: "0".repeat(64) });
  expect([absent.status, absent.body["error"]]).toEqual([409, expect.stringContaining("no such skill")]);
  const created = await upload("hashed", { files, expected_hash: null });
  const hash = String(created.body["content_hash"]);
  const exists = await upload("hashed", { files: changed, expected_hash: null });
  expect([exists.status, exists.body["error"]]).toEqual([409, expect.stringContaining(hash)]);
  expect((await upload("hashed", { files: changed, expected_hash: "1".repeat(64) })).status).toBe(409);
  const { warnings: _ofTheUpload, ...skill } = created.body;
  expect((await get("hashed")).body).toEqual(skill);
  const replaced = await upload("hashed", { files: changed, expected_hash: hash.toUpperCase() });
  expect([replaced.status, replaced.body["file_count"]]).toEqual([200, 2]);
  expect((await upload("hashed", { files, expected_hash: hash })).status).toBe(409);
  expect((await upload("hashed", { files, expected_hash: "x" })).status).toBe(400);
});

test("of simultaneous uploads one is stored as a whole", async () => {
  const { upload, files, names } = await givenTenant();
  const version = (number: number) =>
    Array.from({ length: 20 }, (_, index) => ({ path: `${number}-${index}.txt`, content: String(number) }));
  const uploads = [1, 2, 3, 4].map((number) =>
    upload("racing", { files: [{ path: "SKILL.md", content: skillDocument("racing") }, ...version(number)] }),
  );
  expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const stored = (await files("racing")).body["files"] as { path: string; content: string }[];
  const contents = stored.filter(({ path }) => path !== "SKILL.md").map(({ content }) => content);
  expect([contents.length, new Set(contents).size, await names()]).toEqual([20, 1, ["racing"]]);
});

test("a skill of another organization is not found, and an upload of the same name does not change it", async () => {
  const [own, other] = [await givenTenant(), await givenTenant()];
  await other.uploadDocument("shared-name", { description: "Theirs" });
  const unknown = { error: expect.stringContaining("Skill not found") };
  for (const name of ["shared-name", "absent", "Not-A-Name", "%00", "x".repeat(300)])
    for (const response of [
      await own.get(name),
      await own.files(name),
      await own.remove(name),
      await own.enable(own.agentId, name),
    ])
      expect([name, response.status, response.body]).toEqual([name, 404, unknown]);
  const created = await own.uploadDocument("shared-name", { description: "Ours" }, { expected_hash: null });
  expect(created.status).toBe(200);
  await own.remove("shared-name");
  expect((await other.get("shared-name")).body).toMatchObject({ description: "Theirs", files: [{ path: "SKILL.md" }] });
});

test("an agent of another organization gets the same response as an unknown agent, and nothing is stored", async () => {
  const [own, other] = [await givenTenant(), await givenTenant()];
  for (const id of [other.agentId, randomUUID()]) {
    const responses = [
      await own.uploadDocument("mine", {}, { agent_ids: [own.agentId, id] }),
      await own.enable(id, "mine"),
      await own.declare(id, { platform: "linux" }),
      await own.tenant.rest.get(`/v1/agents/${id}/runtime`),
      await own.tenant.rest.get(`/v1/agents/${id}/skills`),
    ];
    expect(responses.map(({ status, body }) => [status, body["error"]])).toEqual(
      responses.map(() => [404, expect.stringContaining("Agent not found")]),
    );
  }
  expect((await own.tenant.rest.get("/v1/agents/malformed/skills")).body).toEqual({
    error: expect.stringContaining("Agent not found"),
  });
  expect(await own.names()).toEqual([]);
});

test("a file that the skill does not have is not found", async () => {
  const { uploadDocument, files } = await givenTenant();
  await uploadDocument("notes");
  for (const path of ["absent.txt", "../SKILL.md", "a\0b"])
    expect([path, await files("notes", path)]).toMatchObject([path, { status: 404 }]);
});

test("the pages of the skills contain every skill once, by name", async () => {
  const { tenant, uploadDocument } = await givenTenant();
  for (const name of ["d", "a", "c-1", "b", "c", "e", "3d"]) await uploadDocument(name);
  const listed: string[] = [];
  let search = "";
  do {
    const { body } = await tenant.rest.get(`/v1/skills?limit=3${search}`);
    const { skills, next_cursor } = body as unknown as { skills: { name: string }[]; next_cursor: string | null };
    expect(skills.length).toBeLessThanOrEqual(3);
    listed.push(...skills.map(({ name }) => name));
    search = next_cursor === null ? "" : `&cursor=${next_cursor}`;
  } while (search !== "");
  expect(listed).toEqual(["3d", "a", "b", "c", "c-1", "d", "e"]);
  expect((await tenant.rest.get("/v1/skills?limit=7")).body["next_cursor"]).toBeNull();
  for (const invalid of ["limit=0", "limit=101", "limit=x", "cursor=made-up"])
    expect([invalid, (await tenant.rest.get(`/v1/skills?${invalid}`)).status]).toEqual([invalid, 400]);
});

test("an organization has at most 200 skills, and at most 200 MiB of them", async () => {
  const { tenant, uploadDocument } = await givenTenant();
  const first = Number((await uploadDocument("first")).body["size_bytes"]);
  const insert = (count: number, bytes: number) =>
    em().execute(
      `insert into skills select gen_random_uuid(), org_id, 'copy-' || n, description, license, compatibility, allowed_tools, metadata,
       requirements, repository, content_hash, file_count, ?, created_at, updated_at from skills, generate_series(1, ?) n where org_id = ? and name = 'first'`,
      [bytes, count, tenant.org_id],
    );
  await insert(199, 1);
  expect((await uploadDocument("first")).status).toBe(200);
  const more = await uploadDocument("one-more");
  expect([more.status, more.body["error"]]).toEqual([409, expect.stringContaining("at most 200 skills")]);
  await em().execute("delete from skills where org_id = ? and name like 'copy-%'", [tenant.org_id]);
  await insert(100, 2 * 1024 * 1024);
  const larger = await uploadDocument("one-more");
  expect([larger.status, larger.body["error"]]).toEqual([409, expect.stringContaining("200 MiB together")]);
  const shrink = (bytes: number) =>
    em().execute("update skills set size_bytes = size_bytes - ? where org_id = ? and name = 'copy-1'", [
      bytes,
      tenant.org_id,
    ]);
  await shrink(first + Buffer.byteLength(skillDocument("one-more")) - 1);
  expect((await uploadDocument("one-more")).status).toBe(409);
  await shrink(1);
  expect((await uploadDocument("one-more")).status).toBe(200);
});

test("the audit log names the skill and the agent of an action, without the content", async () => {
  const { tenant, agentId, uploadDocument, enable, declare, remove } = await givenTenant();
  await uploadDocument("notes", { body: "Secret plan" });
  await enable(agentId, "notes");
  await declare(agentId, { environment: ["API_KEY"] });
  await remove("notes");
  const events = await em().find(AuditEvent, { orgId: tenant.org_id }, { orderBy: { action: "asc" } });
  const skill = { target: "notes", targetKind: "skill", targetName: "notes", outcome: "done" };
  const agent = { target: agentId, targetKind: "agent", targetName: "Main", outcome: "done" };
  expect(events).toMatchObject([
    { action: "agentRuntimes.declare", ...agent },
    { action: "agentSkills.set", ...agent },
    { action: "skills.delete", ...skill },
    { action: "skills.upload", ...skill },
  ]);
  expect(JSON.stringify(events)).not.toMatch(/Secret plan|API_KEY/);
});
