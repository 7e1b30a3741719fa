import { expect, test } from "vitest";
import { FileCollector } from "../../../domain/skills/collect-files.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { ZipReader } from "../../../server/drivers/archive-reader/zip-reader.ts";
import { deflatedZeros, zipArchive, type ZipEntry } from "../../support/service/zip-archive.ts";

const reader = new ZipReader();

/** Reads an archive as the folder of a skill. */
async function read(archive: Buffer): Promise<string[]> {
  const collector = new FileCollector();
  await reader.readZip(archive, collector);
  return [...collector.finish("pdf")].map(([path, content]) => `${path} ${Buffer.from(content).toString()}`);
}

async function readError(archive: Buffer): Promise<string> {
  const error = await read(archive).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: "invalid" });
  return (error as ServiceError).message;
}

const DOCUMENT: ZipEntry = { name: "pdf/SKILL.md", content: "Steps" };
const withFile = (entry: ZipEntry): Buffer => zipArchive([DOCUMENT, entry]);

test("compressed and stored files are read, without folders and what macOS adds", async () => {
  const archive = zipArchive([
    { name: "pdf/", mode: 0o040755, method: 0 },
    DOCUMENT,
    { name: "pdf/scripts/", mode: 0 },
    { name: "pdf/scripts/fill.py", content: "print(1)", method: 0, mode: 0 },
    { name: "pdf/übung.md", content: "Grüße", flags: 0 },
    { name: "__MACOSX/pdf/._SKILL.md", content: "x" },
    { name: "pdf/.DS_Store", content: "x" },
  ]);
  expect(await read(archive)).toEqual(["SKILL.md Steps", "scripts/fill.py print(1)", "übung.md Grüße"]);
});

const REJECTED: [what: string, entry: ZipEntry, message: RegExp][] = [
  ["a path with ..", { name: "pdf/../../etc/passwd" }, /"pdf\/\.\.\/\.\.\/etc\/passwd" must not contain `\.\.`/],
  ["a folder with ..", { name: "../pdf/" }, /must not contain `\.\.`/],
  ["an absolute path", { name: "/etc/passwd" }, /must be relative/],
  ["a backslash", { name: "pdf\\..\\evil.txt" }, /not a backslash/],
  ["a drive letter", { name: "C:/evil.txt" }, /drive letter/],
  ["a drive letter with a backslash", { name: "C:\\evil.txt" }, /not a backslash/],
  ["a network path", { name: "//host/share" }, /must be relative/],
  ["an alternate data stream", { name: "pdf/SKILL.md:evil" }, /must not contain any of the characters/],
  ["an empty segment", { name: "pdf//a.txt" }, /must not contain empty segments/],
  ["a NUL character", { name: "pdf/a\0.txt" }, /without control or invisible characters/],
  ["a direction override", { name: "pdf/a\u202Etxt.exe" }, /without control or invisible characters/],
  ["a name that is not UTF-8", { name: Buffer.from([0x70, 0xff]) }, /Unicode text/],
  ["a name of a Windows device", { name: "pdf/nul.txt" }, /Windows reserves/],
  ["a name that ends with a dot", { name: "pdf/a." }, /ends with a dot/],
  ["a git folder", { name: "pdf/.GIT/config" }, /folder `\.git`/],
  ["a long path", { name: `pdf/${"x".repeat(252)}` }, /at most 255 bytes/],
  ["a deep path", { name: `pdf/${"a/".repeat(8)}b` }, /at most 7 nested folders/],
  ["the same path twice", { name: "pdf/SKILL.md" }, /is there twice/],
  ["a path that differs in case", { name: "pdf/skill.MD" }, /only in upper and lower case/],
  ["a folder that differs in case", { name: "PDF/a.txt" }, /is not in the folder "pdf"/],
  ["a file in a file", { name: "pdf/SKILL.md/a.txt" }, /is there twice/],
  ["a second skill", { name: "other/SKILL.md", content: "x" }, /a skill has one SKILL\.md, but there are 2/],
  ["a nested skill", { name: "pdf/examples/SKILL.md", content: "x" }, /there are 2/],
  ["a file beside the folder", { name: "README.md" }, /"README.md" is not in the folder "pdf"/],
  [
    "a symbolic link",
    { name: "pdf/link", content: "/etc/passwd", mode: 0o120777 },
    /"pdf\/link" is a link or a device/,
  ],
  ["a device", { name: "pdf/device", mode: 0o020666 }, /is a link or a device/],
  ["an encrypted file", { name: "pdf/a.txt", flags: 0x801 }, /is encrypted. Create the archive without a password/],
  ["strong encryption", { name: "pdf/a.txt", flags: 0x841 }, /is damaged|is encrypted/],
  ["an unsupported compression", { name: "pdf/a.txt", method: 12 }, /unsupported compression method/],
  ["a wrong checksum", { name: "pdf/a.txt", content: "a", crc: 1 }, /its checksum is wrong/],
  ["a wrong size of a stored file", { name: "pdf/a.txt", content: "a", method: 0, declaredSize: 9 }, /damaged/],
  ["invalid deflate", { name: "pdf/a.txt", content: "a", compressed: Buffer.from("nonsense") }, /damaged/],
];

test.each(REJECTED)("%s is rejected", async (_, entry, message) => {
  expect(await readError(withFile(entry))).toMatch(message);
});

test("an archive without a SKILL.md, or with one below the folder of the skill, is rejected", async () => {
  expect(await readError(zipArchive([]))).toBe("files: the skill has no SKILL.md.");
  expect(await readError(zipArchive([{ name: "pdf/README.md" }]))).toBe("files: the skill has no SKILL.md.");
  const nested = { name: "skills-main/skills/pdf/SKILL.md", content: "x" };
  expect(await readError(zipArchive([nested]))).toMatch(/must be named SKILL\.md, at the top or in the folder/);
  expect(await readError(zipArchive([{ name: "pdf/skill.md" }]))).toMatch(/must be named SKILL\.md/);
  expect(await readError(zipArchive([{ name: "other/SKILL.md" }]))).toMatch(/has not the name of the skill, "pdf"/);
});

test("bytes that are not a zip file, and a zip file without its end, are rejected", async () => {
  const whole = withFile({ name: "pdf/a.txt", content: "a" });
  for (const bytes of [Buffer.alloc(0), Buffer.from("no archive"), whole.subarray(0, -1), whole.subarray(10)])
    expect(await readError(bytes)).toMatch(/is not a zip file, or it is damaged/);
});

test("more than 200 files are rejected, and 200 are accepted", async () => {
  const files = Array.from({ length: 199 }, (_, index) => ({ name: `pdf/${index}.txt` }));
  expect(await read(zipArchive([DOCUMENT, ...files]))).toHaveLength(200);
  expect(await readError(zipArchive([DOCUMENT, ...files, { name: "pdf/one-more.txt" }]))).toMatch(/at most 200 files/);
  const folders = Array.from({ length: 1001 }, (_, index) => ({ name: `pdf/${index}/` }));
  expect(await readError(zipArchive(folders))).toMatch(/more than 1000 entries/);
});

test("ten gigabytes of zeros are stopped while they are inflated, whatever size the archive declares", async () => {
  const compressed = deflatedZeros(10_000);
  for (const declaredSize of [10, 4 * 1024 * 1024, 11 * 1024 * 1024, 0xfffffffe])
    expect(await readError(withFile({ name: "pdf/zeros", compressed, declaredSize }))).toMatch(
      /damaged|more than 10 MiB/,
    );
});

test("files that have more than 10 MiB together are rejected, and 10 MiB are accepted", async () => {
  const part = (name: string, bytes: number): ZipEntry => ({ name: `pdf/${name}`, content: Buffer.alloc(bytes) });
  const half = 5 * 1024 * 1024;
  const rest = half - Buffer.byteLength("Steps");
  expect(await read(zipArchive([DOCUMENT, part("a", half), part("b", rest)]))).toHaveLength(3);
  expect(await readError(zipArchive([DOCUMENT, part("a", half), part("b", rest + 1)]))).toMatch(/more than 10 MiB/);
});
