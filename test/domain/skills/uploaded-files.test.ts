import { describe, expect, test } from "vitest";
import { FileCollector } from "../../../domain/skills/collect-files.ts";
import { decodeFiles, toFileAsJson, type UploadedFile } from "../../../domain/skills/uploaded-files.ts";

const DOCUMENT = { path: "SKILL.md", content: "# Notes" };
const MEBIBYTE = 1024 * 1024;

const file = (path: string, content = "x"): UploadedFile => ({ path, content });
const decode = (...files: UploadedFile[]) =>
  [...decodeFiles("notes", files)].map(([path, content]) => [path, Buffer.from(content).toString()]);
const invalid = (message: string) =>
  expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) });

describe("the files of a skill", () => {
  test("are sorted by path", () => {
    const files = [file("b.txt", "b"), DOCUMENT, file("a/b.txt", ""), file("a.txt", "é"), file("Z")];
    expect(decode(...files)).toEqual([
      ["SKILL.md", "# Notes"],
      ["Z", "x"],
      ["a.txt", "é"],
      ["a/b.txt", ""],
      ["b.txt", "b"],
    ]);
  });

  test("are stored without the folder of the skill", () => {
    expect(decode(file("notes/SKILL.md"), file("notes/notes/a.txt"), file("notes/b.txt"))).toEqual([
      ["SKILL.md", "x"],
      ["b.txt", "x"],
      ["notes/a.txt", "x"],
    ]);
  });

  test("can be in the same folder", () => {
    const paths = ["SKILL.md", "a/b/c", "a/b/d", "a/bc", "ab/c"];
    expect(decode(DOCUMENT, ...paths.slice(1).map((path) => file(path))).map(([path]) => path)).toEqual(paths);
  });

  test("can have further documents below the one at the top, which are files as any other", () => {
    const files = [DOCUMENT, file("a/SKILL.md"), file("b/skill.md")];
    expect(decode(...files).map(([path]) => path)).toEqual(["SKILL.md", "a/SKILL.md", "b/skill.md"]);
  });

  test.each<[what: string, files: UploadedFile[], message: string]>([
    ["no SKILL.md", [file("README.md"), file("SKILL.md.txt")], "the skill has no SKILL.md"],
    ["two of them", [file("a/SKILL.md"), file("b/skill.md")], "one SKILL.md, but there are 2"],
    ["two spellings", [DOCUMENT, file("skill.md")], '"skill.md" is there twice'],
    ["another spelling", [file("skill.md")], '"skill.md" must be named SKILL.md, at the top or in the folder'],
    ["another spelling in the folder", [file("notes/Skill.md")], '"notes/Skill.md" must be named SKILL.md'],
    ["SKILL.md in a nested folder", [file("notes/a/SKILL.md")], "at the top or in the folder of the skill"],
    ["SKILL.md as a folder", [file("notes/SKILL.md/skill.md")], "at the top or in the folder of the skill"],
    ["another folder", [file("other/SKILL.md")], 'is in a folder that has not the name of the skill, "notes"'],
    ["a file beside the folder", [file("notes/SKILL.md"), file("notes.txt")], '"notes.txt" is not in the folder'],
    ["a path twice", [DOCUMENT, file("a.txt"), file("a.txt")], '"a.txt" is there twice'],
    ["a path in another case", [DOCUMENT, file("a.txt"), file("A.TXT")], '"A.TXT" is there twice'],
    ["a file that is a folder", [DOCUMENT, file("a/b/c"), file("a")], '"a" is there twice'],
    ["a file that is a nested folder", [DOCUMENT, file("a/b/c"), file("a/B")], '"a/B" is there twice'],
    ["a folder that is a file", [DOCUMENT, file("A/b"), file("a/B/c")], '"a/B/c" is there twice'],
    ["a path that is not allowed", [DOCUMENT, file("../a")], '"../a" must not contain `..`'],
  ])("are rejected with %s", (_, files, message) => {
    expect(() => decode(...files)).toThrow(invalid(message));
  });

  test("are at most 200", () => {
    const files = [DOCUMENT, ...Array.from({ length: 199 }, (_, index) => file(`${index}.txt`))];
    expect(decode(...files)).toHaveLength(200);
    expect(() => decode(...files, file("further.txt"))).toThrow(invalid("at most 200 files"));
  });

  test("have at most 10 MiB together", () => {
    const half = file("half", "x".repeat(5 * MEBIBYTE));
    const rest = (bytes: number) => file("rest", "x".repeat(5 * MEBIBYTE - DOCUMENT.content.length + bytes));
    expect(decode(DOCUMENT, half, rest(0))).toHaveLength(3);
    expect(() => decode(DOCUMENT, half, rest(1))).toThrow(invalid("more than 10 MiB together"));
  });

  test("have a bound that an archive is read within", () => {
    const collector = new FileCollector();
    expect(collector.remainingBytes).toBe(10 * MEBIBYTE);
    collector.reserve("a");
    collector.add("a", Buffer.alloc(1000));
    expect(collector.remainingBytes).toBe(10 * MEBIBYTE - 1000);
  });
});

test("an error shows at most 100 characters of a path", () => {
  const path = `${"a".repeat(99)}\ud83d\ude00${"b".repeat(300)}`;
  expect(() => decode(file(path))).toThrow(invalid(`files: "${"a".repeat(99)}\ufffd…" must have at most 255 bytes.`));
  const short = `${"a".repeat(99)}.`;
  expect(() => decode(file(short))).toThrow(invalid(`files: "${short}" must not`));
});

test.each([
  ["a text", Buffer.from("Zürich 😀\r\n\ufeff"), "utf-8", "Zürich 😀\r\n\ufeff"],
  ["an empty file", Buffer.alloc(0), "utf-8", ""],
  ["a text with a byte order mark", Buffer.from("\ufeffa"), "utf-8", "\ufeffa"],
  ["a file with a NUL character", Buffer.from("a\0b"), "base64", "YQBi"],
  ["a file that is not UTF-8", Buffer.from([0x61, 0xff]), "base64", "Yf8="],
])("%s is returned in the encoding in which it can be uploaded", (_, content, encoding, encoded) => {
  const returned = toFileAsJson("a", content);
  expect(returned).toEqual({ path: "a", content: encoded, encoding });
  expect(Buffer.from(decodeFiles("notes", [DOCUMENT, returned]).get("a")!).equals(content)).toBe(true);
});

test.each([
  [{ content: "a\0b" }, '"a" has NUL characters'],
  [{ content: "a\ud800" }, "unpaired surrogates"],
  [{ content: "a===", encoding: "base64" } as const, '"a" is not valid base64'],
])("the content %j is rejected", (content, message) => {
  expect(() => decode(DOCUMENT, { path: "a", ...content })).toThrow(invalid(message));
});
