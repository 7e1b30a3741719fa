import { expect, test } from "vitest";
import {
  decodeNameCursor,
  decodePositionCursor,
  encodeNameCursor,
  encodePositionCursor,
} from "../../../domain/skills/skill-cursor.ts";
import { toSkillSummary, toSource } from "../../../domain/skills/skill-view.ts";

const repository = { repo: "acme/skills", branch: "next", path: "skills/pdf", commit: "c".repeat(40) };

test.each([
  [null, "upload"],
  [{ ...repository, branch: null, path: "." }, "acme/skills"],
  [{ ...repository, path: "." }, "acme/skills@next"],
  [{ ...repository, branch: null }, "acme/skills:skills/pdf"],
  [repository, "acme/skills@next:skills/pdf"],
])("the source of %j is %s", (given, source) => {
  expect(toSource(given)).toBe(source);
});

test("a skill from a repository has the commit of its files", () => {
  const now = new Date();
  const row = {
    id: "1",
    org_id: "1",
    name: "pdf",
    description: "Fills forms",
    license: null,
    compatibility: null,
    allowed_tools: null,
    metadata: {},
    requirements: { binaries: [], any_binaries: [], environment: [], configuration: [], platforms: [] },
    repository,
    content_hash: "0",
    file_count: 1,
    size_bytes: 1,
    created_at: now as never,
    updated_at: now as never,
  };
  expect(toSkillSummary(row)).toMatchObject({ source: "acme/skills@next:skills/pdf", commit: repository.commit });
  expect(toSkillSummary({ ...row, repository: null })).toMatchObject({ source: "upload", commit: null });
});

const invalid = expect.objectContaining({ code: "invalid", message: expect.stringContaining("invalid cursor") });

test("the cursor of a list of skills contains the name of one", () => {
  expect(decodeNameCursor(encodeNameCursor("pdf-forms"))).toBe("pdf-forms");
  for (const cursor of ["", "made up", encodeNameCursor(""), encodeNameCursor("Not a name"), encodeNameCursor("a\0")])
    expect(() => decodeNameCursor(cursor)).toThrow(invalid);
});

test.each([
  { eligible: true, name: "pdf-forms" },
  { eligible: false, name: "A skill of a gateway 🧾" },
])("the cursor of the skills of an agent contains %j", (position) => {
  expect(decodePositionCursor(encodePositionCursor(position))).toEqual(position);
});

test.each(["", "0", "1", "2cGRm", "made up", "1cGRm=", "1cGRm!", "cGRm"])(
  "the cursor %j of the skills of an agent is invalid",
  (cursor) => {
    expect(() => decodePositionCursor(cursor)).toThrow(invalid);
  },
);
