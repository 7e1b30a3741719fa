import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { sharedReader } from "../../support/documents/test-reader.ts";
import { deflatedZeros, zipArchive } from "../../support/service/zip-archive.ts";

const reader = sharedReader();

async function unpack(archive: Buffer) {
  const files = await reader().unpack(archive, { orgId: "org-1" });
  return files.map(({ path, content, problem }) => [path, problem ?? Buffer.from(content).toString()]);
}

test("the documents of a zip archive are unpacked, and what is not unpacked is named with the reason", async () => {
  const archive = zipArchive([
    { name: "guide/", content: "" },
    { name: "guide/a.md", content: "Größe" },
    { name: "guide/b.txt", content: "B", method: 0 },
    { name: "guide/logo.png", content: "PNG" },
    { name: "guide/link.md", content: "/etc/passwd", mode: 0o120777 },
    { name: "guide/locked.md", content: "x", flags: 0x801 },
    { name: "guide/damaged.md", content: "x", crc: 1 },
    { name: "guide/a.md", content: "again" },
    { name: "guide/bomb.md", compressed: deflatedZeros(15) },
  ]);
  expect(await unpack(archive)).toEqual([
    ["guide/a.md", "Größe"],
    ["guide/b.txt", "B"],
    ["guide/logo.png", "has the type .png, which is not read."],
    ["guide/link.md", "is a link or a device."],
    ["guide/locked.md", "is protected by a password."],
    ["guide/damaged.md", "is damaged: its checksum is wrong."],
    ["guide/a.md", "is twice in the archive."],
    ["guide/bomb.md", "unpacks to too much data."],
  ]);
});

test("an archive that is damaged or beyond the limits is refused", async () => {
  const refusal = (archive: Buffer) =>
    unpack(archive).then(
      () => "unpacked",
      (error: Error) => error.message,
    );
  expect(await refusal(Buffer.from("no archive"))).toMatch(/is not a zip file/);
  const many = Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}.md`, content: "" }));
  expect(await refusal(zipArchive(many))).toMatch(/too many files/);
  const content = randomBytes(18 * 1024 * 1024);
  const large = Array.from({ length: 6 }, (_, index) => ({ name: `${index}.md`, content, method: 0 }));
  expect(await refusal(zipArchive(large))).toMatch(/unpacks to too much data/);
});
