import { mkdir, rm, symlink, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type CliResult, createCli, type TestCli } from "../support/cli/run-cli.ts";
import { docxFile, wordParagraph } from "../support/documents/docx-file.ts";
import { pdfFile } from "../../bench/support/pdf-file.ts";
import { zipArchive } from "../support/service/zip-archive.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let cli: TestCli;
let folder: string;

beforeAll(async () => {
  const tenant = await service().tenant();
  cli = await createCli({ SVC_URL: service().service.publicUrl, SVC_TOKEN: tenant.api_key });
  folder = path.join(cli.folder, "../documents");
});
afterAll(() => cli[Symbol.asyncDispose]());
beforeEach(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.join(folder, "handbook/travel"), { recursive: true });
});

function knowledge(args: string[], input = ""): Promise<CliResult> {
  return cli.run(["knowledge", ...args], { cwd: folder, input });
}

interface Added {
  documents: { file: string; status: string; title: string; kind: string; file_name: string }[];
  refused: { file: string; error: string }[];
}

async function add(...args: string[]): Promise<Added & { code: number | null; stderr: string }> {
  const { code, stdout, stderr } = await knowledge(["add", ...args, "--json"]);
  return { code, stderr, ...(JSON.parse(stdout) as Added) };
}

test("a folder is uploaded with all types of documents, and a repeated upload changes nothing", async () => {
  const write = (name: string, content: string | Buffer) => writeFile(path.join(folder, "handbook", name), content);
  await write("travel/rules.md", "# Travel\n\nBook trains seven days before the trip.");
  await write("notes.txt", "The office closes at six.");
  await write("page.html", "<title>Parking</title><p>Visitors park on level two.</p>");
  await write("prices.pdf", pdfFile([[{ text: "The Team plan costs 49 euros per user.", top: 100 }]]));
  await write("brand.docx", docxFile(wordParagraph("The logo is green.")));
  await write("image.png", "PNG");
  await write(".draft.md", "hidden");
  await symlink("/etc/hostname", path.join(folder, "handbook/link.txt"));
  const first = await add("handbook", "--kind", "policy");
  expect(first).toMatchObject({ code: 0, refused: [] });
  expect(first.stderr).toContain("Left out 2 files");
  expect(first.documents.map(({ file, status, kind }) => [file, status, kind])).toEqual(
    ["brand.docx", "notes.txt", "page.html", "prices.pdf", "travel/rules.md"].map((name) => [
      `handbook/${name}`,
      "created",
      "policy",
    ]),
  );
  expect((await add("handbook", "--kind", "policy")).documents.map(({ status }) => status)).toEqual(
    Array.from({ length: 5 }, () => "unchanged"),
  );
  await write("notes.txt", "The office closes at seven.");
  const file = await add(path.join(folder, "handbook/notes.txt"), "--kind", "policy");
  expect(file.documents).toMatchObject([{ file: "handbook/notes.txt", status: "updated" }]);
});

test("a refused file is named with its reason, the others are stored, and the exit code is 1", async () => {
  await writeFile(path.join(folder, "a.md"), "# A\n\nFirst.");
  await writeFile(path.join(folder, "b.pdf"), "not a PDF file");
  await writeFile(path.join(folder, "c.md"), "# C\n\nThird.");
  await writeFile(path.join(folder, "large.txt"), "");
  await truncate(path.join(folder, "large.txt"), 20 * 1024 * 1024 + 1);
  const { code, stderr, documents, refused } = await add(".", "--kind", "sop");
  expect([code, documents.map(({ file }) => file)]).toEqual([1, ["a.md", "c.md"]]);
  expect(refused).toEqual([
    { file: "b.pdf", error: expect.stringContaining("is not what its name says") },
    { file: "large.txt", error: "The file exceeds 20 MiB." },
  ]);
  expect(stderr).toMatch(
    /^refused: b\.pdf: [^\n]+\nrefused: large\.txt: [^\n]+\nerror: 2 of 4 files were refused\.\n$/,
  );
  const table = (await knowledge(["add", "a.md", "c.md", "--kind", "sop"])).stdout;
  expect(table).toMatch(/^STATUS +FILE +TITLE +VERSION +DOCUMENT ID\nunchanged +a\.md +A +1 /);
});

test("a zip archive is uploaded as its folder would be, and what is not stored is named", async () => {
  const entries = [
    { name: "guide/travel/rules.md", content: "---\ntitle: Travel rules\n---\n\nBook trains early." },
    { name: "guide/.draft.md", content: "hidden" },
    { name: "guide/logo.png", content: "PNG" },
    { name: "guide/link.md", content: "travel/rules.md", mode: 0o120777 },
    { name: "../outside.md", content: "Outside." },
  ];
  await writeFile(path.join(folder, "guide.zip"), zipArchive(entries));
  const first = await add("guide.zip", "--kind", "policy");
  expect(first.documents).toMatchObject([{ file: "guide/travel/rules.md", status: "created", title: "Travel rules" }]);
  expect([first.code, first.stderr]).toEqual([1, expect.stringContaining("3 of 4 files were refused")]);
  expect(first.refused.map(({ error }) => error)).toEqual([
    expect.stringContaining("type .png"),
    "The file is a link or a device.",
    expect.stringContaining("leads out of the archive"),
  ]);
  await writeFile(
    path.join(folder, "inside.zip"),
    zipArchive([
      { name: "travel/rules.md", content: "Book early." },
      { name: "a.md", content: "A" },
    ]),
  );
  const inside = await add("inside.zip", "--kind", "policy");
  expect(inside.documents.map(({ file }) => file)).toEqual(["inside/travel/rules.md", "inside/a.md"]);
  const wrong = await knowledge(["add", "wrong.zip", "--kind", "policy"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("Cannot read wrong.zip")]);
  await writeFile(path.join(folder, "wrong.zip"), "no archive");
  expect((await knowledge(["add", "wrong.zip", "--kind", "policy"])).stderr).toContain("is not a zip archive");
});

test("standard input is one file with a name", async () => {
  const args = ["add", "-", "--kind", "faq", "--name", "faq/hours.md", "--title", "Hours", "--json"];
  const { stdout } = await knowledge(args, "We open at nine.");
  expect(JSON.parse(stdout)).toMatchObject({
    documents: [{ status: "created", title: "Hours", kind: "faq", file_name: "faq/hours.md" }],
  });
});

test("search prints the sentences of the answer with their sources", async () => {
  await writeFile(path.join(folder, "refunds.md"), "# Refunds\n\nRefunds are paid within nine days.");
  const { documents } = await add("refunds.md", "--kind", "policy", "--language", "english");
  expect(documents).toMatchObject([{ status: "created" }]);
  const found = await knowledge(["search", "When are refunds paid?", "--kind", "policy", "--limit", "1"]);
  expect(found).toMatchObject({ code: 0, stderr: "" });
  expect(found.stdout).toMatch(
    /^Refunds are paid within nine days.* \[1\]\n\n\[1\] Refunds \([0-9a-f-]{36}\)\n {4}Refunds are paid within nine days\.\n$/,
  );
  const json = JSON.parse((await knowledge(["search", "When are refunds paid?", "--json"])).stdout) as object;
  expect(json).toMatchObject({ citations: [{ n: 1 }] });
});

test("wrong usage of knowledge has the exit code 2, and nothing is stored", async () => {
  await writeFile(path.join(folder, "a.md"), "A");
  await writeFile(path.join(folder, "b.md"), "B");
  const before = (await knowledge(["list", "--json"])).stdout;
  const wrong: [string[], RegExp][] = [
    [["a.md"], /required option '--kind <kind>' not specified/],
    [["a.md", "--kind", "rule"], /Allowed choices are policy/],
    [["nowhere.md", "--kind", "faq"], /Cannot read nowhere\.md: ENOENT/],
    [["handbook", "--kind", "faq"], /There is no document/],
    [["-", "--kind", "faq"], /needs a name/],
    [["a.md", "b.md", "--kind", "faq", "--name", "c.md"], /--name and --title need exactly one file/],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await knowledge(["add", ...args]);
    expect([args, code, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toMatch(message);
  }
  const limit = await knowledge(["search", "x", "--limit", "many"]);
  expect([limit.code, limit.stdout]).toEqual([2, ""]);
  expect((await knowledge(["list", "--json"])).stdout).toBe(before);
});

test("an upload without a valid sign-in ends at the first file", async () => {
  await writeFile(path.join(folder, "a.md"), "A");
  await writeFile(path.join(folder, "b.md"), "B");
  const { code, stdout, stderr } = await cli.run(["knowledge", "add", ".", "--kind", "faq"], {
    cwd: folder,
    env: { SVC_TOKEN: "svk_wrong" },
  });
  expect([code, stdout, stderr]).toEqual([4, "", expect.stringMatching(/^error: [^\n]+\n$/)]);
});

test("a reader that closes the pipe ends the upload without an error", async () => {
  await writeFile(path.join(folder, "a.md"), "A");
  const { child, stderr, ended } = cli.start(["knowledge", "add", path.join(folder, "a.md"), "--kind", "faq"]);
  child.stdout?.destroy();
  expect([(await ended).code, stderr()]).toEqual([0, ""]);
});
