import { randomUUID } from "node:crypto";
import { chown, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { createProgramFolder, openProgramsFolder } from "../../../server/drivers/code-runtime/program-folders.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Of nobody else. */
const dataDirectory = () => path.join("/nowhere", "very long ".repeat(20), randomUUID());

/** Removed when the test ends, with what was set aside for it. */
async function opened(data: string): Promise<{ path: string } & AsyncDisposable> {
  const folder = await openProgramsFolder(data);
  const [parent, name] = [path.dirname(folder), path.basename(folder)];
  const remove = async () => {
    for (const each of (await readdir(parent)).filter((entry) => entry.startsWith(name)))
      await rm(path.join(parent, each), { recursive: true, force: true });
  };
  return { path: folder, [Symbol.asyncDispose]: remove };
}

const isPrivate = async (folder: string) => {
  const found = await lstat(folder);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o777) === 0o700;
};

test("an installation has a private folder of its own for programs, in which a socket's path is short enough", async () => {
  const [data, other] = [dataDirectory(), dataDirectory()];
  await using mine = await opened(data);
  await using theirs = await opened(other);
  expect(mine.path).not.toBe(theirs.path);
  expect(await openProgramsFolder(data)).toBe(mine.path);
  await using program = await createProgramFolder(mine.path);
  expect(await isPrivate(mine.path)).toBe(true);
  expect(Buffer.byteLength(path.relative(tmpdir(), path.join(program.path, "calls.sock")))).toBeLessThan(60);
});

test("what a killed service left is removed at the next start, and nothing of another installation", async () => {
  const data = dataDirectory();
  await using mine = await opened(data);
  await using theirs = await opened(dataDirectory());
  const left = await createProgramFolder(mine.path);
  await left.fill("secret", "");
  await using running = await createProgramFolder(theirs.path);
  await openProgramsFolder(data);
  await expect(lstat(left.path)).rejects.toThrow("ENOENT");
  expect(await readFile(path.join(running.path, "main.ts"), "utf8")).toBe("");
});

test("a link in the place of the folder is set aside, and what it leads to stays as it is", async () => {
  await using elsewhere = await temporaryFolder();
  await writeFile(path.join(elsewhere.path, "precious"), "");
  const data = dataDirectory();
  await using mine = await opened(data);
  await symlink(elsewhere.path, mine.path);
  await openProgramsFolder(data);
  await using program = await createProgramFolder(mine.path);
  expect([await isPrivate(mine.path), path.dirname(program.path)]).toEqual([true, mine.path]);
  expect(await readdir(elsewhere.path)).toEqual(["precious"]);
});

test("a folder that a cleaner removed is made again for the next program", async () => {
  await using mine = await opened(dataDirectory());
  const earlier = await createProgramFolder(mine.path);
  await rm(mine.path, { recursive: true });
  await earlier[Symbol.asyncDispose]();
  await using program = await createProgramFolder(mine.path);
  expect([await isPrivate(mine.path), (await readdir(program.path)).toSorted()]).toEqual([
    true,
    ["main.ts", "service.d.ts"],
  ]);
});

const isRoot = process.getuid?.() === 0;

/** What others can put in the place of the folder; only root can stand in for another user. */
const INTRUDERS: Record<string, (place: string) => Promise<void>> = {
  file: (place) => writeFile(place, "theirs"),
  ...(isRoot && {
    "folder of another user": async (place) => {
      await mkdir(place);
      await writeFile(path.join(place, "theirs"), "");
      await chown(place, 65_534, 65_534);
    },
  }),
};

test.each(Object.keys(INTRUDERS))("a %s in its place is set aside with all it holds", async (kind) => {
  const data = dataDirectory();
  await using mine = await opened(data);
  await INTRUDERS[kind]?.(mine.path);
  await openProgramsFolder(data);
  await using program = await createProgramFolder(mine.path);
  expect([await isPrivate(mine.path), await readdir(mine.path)]).toEqual([true, [path.basename(program.path)]]);
  const [aside = ""] = (await readdir(tmpdir())).filter((name) => name.startsWith(`${path.basename(mine.path)}-`));
  const { size, uid } = await lstat(path.join(tmpdir(), aside));
  expect(kind === "file" ? size : uid).toBe(kind === "file" ? "theirs".length : 65_534);
});
