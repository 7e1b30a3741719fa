import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { FilesystemSpool } from "../../../server/drivers/spool/filesystem.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const textOf = async (chunks: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(chunks)).toString();

test("a file has what was appended, each time that it is read, and more than fits in one chunk", async () => {
  await using folder = await temporaryFolder();
  await using file = await new FilesystemSpool(folder.path).open();
  // Each chunk stays valid: a stream requests the next one while it still uses the last.
  const texts = ["größer\n", "x".repeat(100_000), "y".repeat(200_000), "\nend"];
  for (const text of texts) await file.append(text);
  expect(await textOf(file.read())).toBe(texts.join(""));
  await file.append("!");
  expect(await textOf(file.read())).toBe(`${texts.join("")}!`);
});

test("files are independent, can be read by no other user, and have no names that a crash could leave", async () => {
  await using folder = await temporaryFolder();
  const root = path.join(folder.path, "spool");
  const spool = new FilesystemSpool(root);
  await using one = await spool.open();
  await using two = await spool.open();
  await one.append("one");
  await two.append("two");
  expect([await textOf(one.read()), await textOf(two.read())]).toEqual(["one", "two"]);
  expect([await readdir(root), (await stat(root)).mode & 0o777]).toEqual([[], 0o700]);
});
