import { describe, expect, test } from "vitest";
import type { YamlParser } from "../../../domain/ports/yaml-parser.ts";
import { parseSkillDocument } from "../../../domain/skills/skill-document.ts";

/** Parses the part of YAML that is JSON. */
const yaml: YamlParser = {
  parse: async (_orgId, text, firstLine) => {
    try {
      return { value: JSON.parse(text) as unknown };
    } catch {
      return { problem: `not JSON from line ${firstLine} on` };
    }
  },
};

const FIELDS = { name: "notes", description: "Takes notes" };
const read = (content: string | Uint8Array) => parseSkillDocument(yaml, "org-1", Buffer.from(content), "folder");
const parse = async (content: string | Uint8Array) => (await read(content)).document;
const parseFields = (fields: unknown) => parse(`---\n${JSON.stringify(fields)}\n---\n`);
const invalid = (message: string) => ({ code: "invalid", message: expect.stringContaining(`SKILL.md: ${message}`) });

/** A list in a list, and so on. */
function nested(depth: number, innermost: unknown = "x"): unknown {
  return depth === 0 ? innermost : [nested(depth - 1, innermost)];
}

test("the frontmatter of a SKILL.md declares the skill", async () => {
  expect(await parseFields(FIELDS)).toEqual({
    ...FIELDS,
    license: null,
    compatibility: null,
    allowedTools: null,
    metadata: {},
    requirements: { binaries: [], any_binaries: [], environment: [], configuration: [], platforms: [] },
  });
  const all = {
    name: "pdf-forms",
    description: " Fills\r\nforms\u202e ",
    license: "MIT",
    compatibility: "Requires git",
    "allowed-tools": ["Bash(git:*)", "Read"],
    metadata: { openclaw: { requires: { bins: ["pdftk"] } } },
    color: "red",
  };
  expect(await parseFields(all)).toEqual({
    name: "pdf-forms",
    description: "Fills\nforms",
    license: "MIT",
    compatibility: "Requires git",
    allowedTools: "Bash(git:*), Read",
    metadata: all.metadata,
    requirements: { binaries: ["pdftk"], any_binaries: [], environment: [], configuration: [], platforms: [] },
  });
  expect(await parseFields({ ...FIELDS, license: null, metadata: null })).toMatchObject({
    license: null,
    metadata: {},
  });
});

describe("frontmatter", () => {
  const text = JSON.stringify(FIELDS);

  test.each([
    ["line breaks of Windows", `---\r\n${text}\r\n---\r\n# Notes`],
    ["a byte order mark", `\ufeff---\n${text}\n---\n`],
    ["spaces after the hyphens", `--- \t\n${text}\n---\t \nText`],
    ["nothing after it", `---\n${text}\n---`],
    ["a later line of hyphens", `---\n${text}\n---\nText\n---\n{"name": "other"}\n---\n`],
    ["16 KiB", `---\n${text}${" ".repeat(16 * 1024 - text.length - 1)}\n---\n`],
  ])("is read with %s", async (_, content) => {
    expect(await parse(content)).toMatchObject(FIELDS);
  });

  test.each([
    ["a line before it", `\n---\n${text}\n---\n`, "must start with frontmatter"],
    ["four hyphens", `----\n${text}\n---\n`, "must start with frontmatter"],
    ["four hyphens after it", `---\n${text}\n----\n`, "must start with frontmatter"],
    ["text before the hyphens at its end", `---\n${text} ---\n`, "must start with frontmatter"],
    ["text after the hyphens at its end", `---\n${text}\n--- x\n`, "must start with frontmatter"],
    ["more than 16 KiB", `---\n${" ".repeat(16 * 1024)}\n---\n`, "its frontmatter has more than 16384 bytes"],
    ["invalid YAML", "---\nname: notes\n---\n", "its frontmatter is not valid YAML: not JSON from line 2 on. Put"],
    ["a list", "---\n[]\n---\n", "its frontmatter must be a map"],
    ["nothing in it", "---\nnull\n---\n", "its frontmatter must be a map"],
  ])("is rejected with %s", async (_, content, message) => {
    await expect(parse(content)).rejects.toMatchObject(invalid(message));
  });
});

test("a SKILL.md has at most 256 KiB of UTF-8 text", async () => {
  const start = `---\n${JSON.stringify(FIELDS)}\n---\n`;
  const whole = start + "x".repeat(256 * 1024 - start.length);
  expect(await parse(whole)).toMatchObject(FIELDS);
  await expect(parse(`${whole}x`)).rejects.toMatchObject(invalid("has 262145 bytes, and at most 262144 are allowed"));
  for (const content of [Buffer.concat([Buffer.from(start), Buffer.from([0xff])]), `${start}a\0b`])
    await expect(parse(content)).rejects.toMatchObject(invalid("must be UTF-8 text without NUL characters"));
});

describe("warnings", () => {
  const warningsOf = async (fields: object) =>
    (await read(`---\n${JSON.stringify({ ...FIELDS, ...fields })}\n---\n`)).warnings;

  test("name long texts, beyond what the format recommends", async () => {
    expect(await warningsOf({ description: "x".repeat(1024), compatibility: "x".repeat(500) })).toEqual([]);
    expect(await warningsOf({ description: "x".repeat(1025), compatibility: "x".repeat(501) })).toEqual([
      "SKILL.md: description has 1025 characters. Some agents accept or read at most 1024.",
      "SKILL.md: compatibility has 501 characters. Some agents accept or read at most 500.",
    ]);
  });

  test.each([undefined, 1, "my notes"])(
    "say that the name %s is not one, and the name of the folder is used",
    async (name) => {
      expect(await warningsOf({ name })).toEqual([expect.stringContaining("name must have 1 to 64")]);
      expect(await parseFields({ ...FIELDS, name })).toMatchObject({ name: "folder" });
    },
  );

  test("say that a document has no frontmatter, and its first paragraph is the description", async () => {
    const { document, warnings } = await read(`# Notes\r\n\r\n${"Takes notes. ".repeat(100)}\r\n\r\nMore.`);
    expect(document).toMatchObject({ name: "folder", description: "Takes notes. ".repeat(100).slice(0, 1000).trim() });
    expect(warnings[0]).toContain("it has no frontmatter");
    for (const empty of ["", "# Notes\n\n## More\n"])
      await expect(read(empty)).rejects.toMatchObject(invalid("must start with frontmatter"));
  });
});

describe("the fields", () => {
  test.each<[what: string, fields: object]>([
    ["a long description", { description: "x".repeat(8000) }],
    ["a long license", { license: "x".repeat(2000) }],
    ["a long compatibility", { compatibility: "x".repeat(2000) }],
    ["many allowed tools", { "allowed-tools": "x".repeat(2000) }],
    ["metadata with a number and a boolean", { metadata: { version: 1, draft: false, none: null } }],
    ["nested metadata", { metadata: { deep: nested(8) } }],
    ["a nested number", { metadata: { deep: nested(8, 1) } }],
  ])("are read with %s", async (_, fields) => {
    expect(await parseFields({ ...FIELDS, ...fields })).toMatchObject({ name: "notes" });
  });

  test.each<[what: string, fields: object, message: string]>([
    ["no description", { description: undefined }, "description must be a text of 1 to 8000 characters"],
    ["an empty description", { description: " \u200e" }, "description must be a text of 1 to 8000 characters"],
    ["a description that is a number", { description: 1 }, "description must be a text of 1 to 8000 characters"],
    ["a description over the limit", { description: "x".repeat(8001) }, "description must be a text"],
    ["an empty license", { license: "" }, "license must be a text of 1 to 2000 characters"],
    ["a license over the limit", { license: "x".repeat(2001) }, "license must be a text of 1 to 2000 characters"],
    [
      "a compatibility over the limit",
      { compatibility: "x".repeat(2001) },
      "compatibility must be a text of 1 to 2000",
    ],
    ["too many allowed tools", { "allowed-tools": "x".repeat(2001) }, "allowed-tools must be a text of 1 to 2000"],
    ["allowed tools that are a map", { "allowed-tools": {} }, "allowed-tools must be a text of 1 to 2000"],
    ["metadata that is a text", { metadata: "x" }, "metadata must be a map"],
    ["metadata that is a list", { metadata: [] }, "metadata must be a map"],
    ["deeply nested metadata", { metadata: { deep: nested(9) } }, "its frontmatter must be Unicode text"],
    ["a NUL character", { color: "a\0" }, "its frontmatter must be Unicode text"],
    ["an unpaired surrogate", { color: ["a\ud800"] }, "its frontmatter must be Unicode text"],
    ["a key with a NUL character", { metadata: { "a\0": 1 } }, "its frontmatter must be Unicode text"],
    ["invalid requirements", { metadata: { openclaw: { os: [1] } } }, "metadata.openclaw.os must be a list"],
  ])("are rejected with %s", async (_, fields, message) => {
    await expect(parseFields({ ...FIELDS, ...fields })).rejects.toMatchObject(invalid(message));
  });
});
