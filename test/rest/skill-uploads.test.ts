import { expect, test } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { skillDocument, skillsOf } from "../support/service/skills.ts";
import { zipArchive } from "../support/service/zip-archive.ts";

const service = sharedHarness();

const givenSkills = async () => skillsOf((await service().tenant()).rest);
const document = (name: string, frontmatter = "") => ({
  path: "SKILL.md",
  content: skillDocument(name, { frontmatter }),
});
const text = (content: string) => [{ path: "SKILL.md", content }];
const file = (path: string, content = "x", encoding?: string) => ({
  files: [document("notes"), { path, content, ...(encoding !== undefined && { encoding }) }],
});

test("a zip file is stored like the same files as JSON, and replaces them", async () => {
  const { upload, files, get } = await givenSkills();
  const entries = [
    { name: "notes/SKILL.md", content: skillDocument("notes") },
    { name: "notes/scripts/run.sh", content: "echo 1\n", mode: 0o100755 },
  ];
  const archive = zipArchive(entries).toString("base64");
  const fromZip = await upload("notes", { archive });
  expect([fromZip.status, fromZip.body["source"]]).toEqual([200, "upload"]);
  const stored = (await files("notes")).body;
  const fromJson = await upload("notes", stored);
  expect(fromJson.body["content_hash"]).toBe(fromZip.body["content_hash"]);
  const wrapped = archive.replaceAll(/.{76}/g, "$&\n");
  expect((await upload("notes", { archive: wrapped })).status).toBe(200);
  expect((await get("notes")).body).toMatchObject({ file_count: 2, content_hash: fromZip.body["content_hash"] });
});

test("the largest skill is stored as JSON and in a zip file", async () => {
  const { upload, files } = await givenSkills();
  const content = Buffer.alloc(10 * 1024 * 1024 - document("large").content.length, 0xff);
  const encoded = { path: "data.bin", content: content.toString("base64"), encoding: "base64" };
  expect((await upload("large", { files: [document("large"), encoded] })).status).toBe(200);
  const entries = [
    { name: "SKILL.md", content: skillDocument("large") },
    { name: "data.bin", content, method: 0 },
  ];
  expect((await upload("large", { archive: zipArchive(entries).toString("base64") })).status).toBe(200);
  expect((await files("large", "data.bin")).body).toEqual({ files: [encoded] });
});

test("what Claude Code accepts beyond the format of skills is stored with a warning", async () => {
  const { upload, get } = await givenSkills();
  const store = async (content: string, ...further: object[]) => {
    const { status, body } = await upload("notes", { files: [...text(content), ...further] });
    return [status, body["warnings"], body["description"]];
  };
  expect(await store(skillDocument("notes", { description: "x" }))).toEqual([200, [], "x"]);
  const long = "x".repeat(1025);
  expect(await store(skillDocument("notes", { description: long }))).toEqual([
    200,
    ["SKILL.md: description has 1025 characters. Some agents accept or read at most 1024."],
    long,
  ]);
  expect(await store("# Notes\n\nTakes notes\nof calls.\n\nMore.\n")).toEqual([
    200,
    [expect.stringContaining("it has no frontmatter"), expect.stringContaining('The skill is named "notes".')],
    "Takes notes of calls.",
  ]);
  expect(await store("---\nname: My Notes\ndescription: Takes notes: all of them\n---\n")).toEqual([
    200,
    [
      expect.stringMatching(/^SKILL\.md: its frontmatter is not valid YAML: .*Its values were read as text\.$/s),
      expect.stringContaining("name must have 1 to 64"),
    ],
    "Takes notes: all of them",
  ]);
  const nested = { path: "templates/SKILL.md", content: "# Template\n" };
  const large = { path: "font.ttf", content: Buffer.alloc(5.5 * 1024 * 1024).toString("base64"), encoding: "base64" };
  expect(await store(skillDocument("notes", { description: "x" }), nested, large)).toEqual([
    200,
    ["files: have 5.5 MiB together. Some agents accept at most 5 MiB."],
    "x",
  ]);
  expect((await get("notes")).body).toMatchObject({ name: "notes", file_count: 3 });
});

const YAML_BOMB = `a: &a ["x","x","x"]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c]`;

const INVALID: [what: string, body: object, message: RegExp][] = [
  ["no files", {}, /^Send exactly one of files, archive and repo\.$/],
  ["two sources", { files: [document("notes")], archive: "UEsDBA==" }, /exactly one/],
  ["a branch of no repository", { files: [document("notes")], branch: "main" }, /Send repo too/],
  ["an empty list of files", { files: [] }, /has no SKILL\.md/],
  ["an unknown field", { files: [document("notes")], color: "red" }, /unknown field "color"/],
  ["a SKILL.md without any text", { files: text("# Notes\n") }, /^SKILL\.md: must start with frontmatter/],
  ["text before the frontmatter", { files: text(`\n${skillDocument("notes")}`) }, /must start with frontmatter/],
  ["frontmatter without an end", { files: text("---\nname: notes\n") }, /must start with frontmatter/],
  ["frontmatter that is a list", { files: text("---\n- notes\n---\n") }, /must be a map with name and description/],
  ["frontmatter over the limit", { files: [document("notes", `x: ${"y".repeat(16_384)}`)] }, /more than 16384 bytes/],
  [
    "invalid YAML",
    { files: text("---\nname: notes\ndescription: x\nmetadata:\n  a: b: c\n---\n") },
    /not valid YAML: Nested .* at line 5/,
  ],
  ["a bomb of aliases", { files: [document("notes", YAML_BOMB)] }, /aliases \(\*name\) are not allowed/],
  ["a custom tag", { files: [document("notes", "x: !!js/function 'y'")] }, /tags \(!name\) are not allowed/],
  ["a key that is not text", { files: [document("notes", "[a]: b")] }, /keys must be strings/],
  ["a NUL character in YAML", { files: [document("notes", 'license: "a\\0b"')] }, /without NUL characters/],
  ["a surrogate in a key in YAML", { files: [document("notes", 'metadata: {"a\\uD800": b}')] }, /must be Unicode text/],
  ["nested metadata", { files: [document("notes", `metadata: ${"{a: ".repeat(12)}1${"}".repeat(12)}`)] }, /not nested/],
  ["metadata that is a text", { files: [document("notes", "metadata: x")] }, /metadata must be a map/],
  ["another name", { files: [document("other")] }, /its name is "other", but the name of the skill is "notes"/],
  ["no description", { files: text("---\nname: notes\n---\n") }, /description must be a text of 1 to 8000/],
  ["an empty description", { files: text('---\nname: notes\ndescription: " \u200E "\n---\n') }, /description must/],
  [
    "a long description",
    { files: text(skillDocument("notes", { description: "x".repeat(8001) })) },
    /description must/,
  ],
  [
    "a long compatibility",
    { files: [document("notes", `compatibility: ${"x".repeat(2001)}`)] },
    /1 to 2000 characters/,
  ],
  [
    "requirements of a wrong type",
    { files: [document("notes", "metadata: {openclaw: {requires: [ffmpeg]}}")] },
    /requires must be a map/,
  ],
  [
    "a requirement of a wrong type",
    { files: [document("notes", "metadata: {openclaw: {requires: {bins: [1]}}}")] },
    /requires\.bins must be a list/,
  ],
  [
    "a SKILL.md over the limit",
    { files: text(skillDocument("notes", { body: "x".repeat(262_144) })) },
    /at most 262144 are allowed/,
  ],
  [
    "a SKILL.md that is not UTF-8",
    { files: [{ path: "SKILL.md", content: "/w==", encoding: "base64" }] },
    /must be UTF-8 text/,
  ],
  ["a path with ..", file("../evil.txt"), /"\.\.\/evil\.txt" must not contain `\.\.`/],
  ["an absolute path", file("/etc/passwd"), /must be relative/],
  ["a drive letter", file("C:evil.txt"), /drive letter/],
  ["a backslash", file("a\\b.txt"), /not a backslash/],
  ["a path with NUL", file("a\0.txt"), /control or invisible/],
  ["a path with a surrogate", file("a\uD800.txt"), /Unicode text/],
  ["an empty path", file(""), /must not be empty/],
  ["a path twice", file("SKILL.md"), /is there twice/],
  [
    "a path that differs in Unicode composition",
    { files: [document("notes"), { path: "é", content: "" }, { path: "e\u0301", content: "" }] },
    /is there twice/,
  ],
  ["NUL in a text", file("a.txt", "a\0b"), /"a\.txt" has NUL characters/],
  ["an unpaired surrogate in a text", file("a.txt", "a\uD800"), /unpaired surrogates/],
  ["invalid base64", file("a.bin", "a===", "base64"), /is not valid base64/],
  ["base64 with spaces", file("a.bin", "YQ ==", "base64"), /is not valid base64/],
  ["an unknown encoding", file("a.bin", "61", "hex"), /encoding/],
  ["an archive that is not base64", { archive: "PK\u0003\u0004" }, /archive: must be a zip file in base64/],
  ["an archive that is not a zip file", { archive: "cGRm" }, /archive: is not a zip file/],
  [
    "an archive with a path to a parent",
    {
      archive: zipArchive([{ name: "SKILL.md", content: skillDocument("notes") }, { name: "../evil.txt" }]).toString(
        "base64",
      ),
    },
    /must not contain `\.\.`/,
  ],
  ["a malformed agent id", { files: [document("notes")], agent_ids: ["main"] }, /agent_ids/],
];

test("400 rejects what is not a skill, and changes nothing", async () => {
  const { upload, uploadDocument, get, names } = await givenSkills();
  await uploadDocument("notes", { description: "Kept" });
  const kept = (await get("notes")).body;
  for (const [what, body, message] of INVALID) {
    const response = await upload("notes", body);
    expect([what, response.status, response.body["error"]]).toEqual([what, 400, expect.stringMatching(message)]);
  }
  expect([await names(), (await get("notes")).body]).toEqual([["notes"], kept]);
});

test("400 rejects a name that no skill can have", async () => {
  const { upload, names } = await givenSkills();
  for (const name of ["Notes", "-notes", "notes-", "no--tes", "no_tes", "ü", "%00", "a%2Fb", "x".repeat(65)]) {
    const response = await upload(name, { files: [document("notes")] });
    expect([name, response.status, response.body["error"]]).toEqual([
      name,
      400,
      expect.stringMatching(/^name must|^name: must have 1 to 64/),
    ]);
  }
  expect((await upload("x".repeat(64), { files: [document("x".repeat(64))] })).status).toBe(200);
  expect(await names()).toEqual(["x".repeat(64)]);
});

test("413 rejects a body over 16 MiB", async () => {
  const { upload } = await givenSkills();
  const response = await upload("notes", { archive: "A".repeat(16 * 1024 * 1024) });
  expect([response.status, response.body["error"]]).toEqual([413, "The request body exceeds 16 MiB."]);
});
