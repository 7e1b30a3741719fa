import { randomUUID } from "node:crypto";
import { chown, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { createProgramFolder, openProgramsFolder } from "../../../server/drivers/code-runtime/program-folders.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A data directory that no other test uses, with a long path. */
const createDataDirectory = () => path.join("/nowhere", "very long ".repeat(20), randomUUID());

/** Opens the folder of an installation. Disposing removes it and everything that was renamed in its place. */
async function openFolder(data: string): Promise<{ path: string } & AsyncDisposable> {
  const folder = await openProgramsFolder(data);
  const [parent, name] = [path.dirname(folder), path.basename(folder)];
  const remove = async () => {
    for (const each of (await readdir(parent)).filter((entry) => entry.startsWith(name)))
      await rm(path.join(parent, each), { recursive: true, force: true });
  };
  return { path: folder, [Symbol.asyncDispose]: remove };
}

const isPrivate = async (folder: string) => {
  const stats = await lstat(folder);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o777) === 0o700;
};

test("each installation has a private folder for programs, whose path is short enough for a unix socket", async () => {
  const data = createDataDirectory();
  const other = createDataDirectory();
  await using mine = await openFolder(data);
  await using theirs = await openFolder(other);
  expect(mine.path).not.toBe(theirs.path);
  expect(await openProgramsFolder(data)).toBe(mine.path);
  await using program = await createProgramFolder(mine.path);
  expect(await isPrivate(mine.path)).toBe(true);
  expect(Buffer.byteLength(path.relative(tmpdir(), path.join(program.path, "calls.sock")))).toBeLessThan(60);
});

test("files of a killed service are removed at the next start, and other installations are not affected", async () => {
  const data = createDataDirectory();
  await using mine = await openFolder(data);
  await using theirs = await openFolder(createDataDirectory());
  const left = await createProgramFolder(mine.path);
  await left.writeProgram("secret", "");
  await using running = await createProgramFolder(theirs.path);
  await running.writeProgram("running", "");
  await openProgramsFolder(data);
  await expect(lstat(left.path)).rejects.toThrow("ENOENT");
  expect(await readFile(path.join(running.path, "main.ts"), "utf8")).toBe("running");
});

test("a symbolic link in place of the folder is renamed, and its target is not changed", async () => {
  await using elsewhere = await temporaryFolder();
  await writeFile(path.join(elsewhere.path, "precious"), "");
  const data = createDataDirectory();
  await using mine = await openFolder(data);
  await symlink(elsewhere.path, mine.path);
  await openProgramsFolder(data);
  await using program = await createProgramFolder(mine.path);
  expect([await isPrivate(mine.path), path.dirname(program.path)]).toEqual([true, path.join(mine.path, "sandboxes")]);
  expect(await readdir(elsewhere.path)).toEqual(["precious"]);
});

test("a folder that a cleanup job removed is created again for the next program", async () => {
  await using mine = await openFolder(createDataDirectory());
  const earlier = await createProgramFolder(mine.path);
  await rm(mine.path, { recursive: true });
  await earlier[Symbol.asyncDispose]();
  await using program = await createProgramFolder(mine.path);
  expect([await isPrivate(mine.path), await readdir(program.path)]).toEqual([true, []]);
});

const isRoot = process.getuid?.() === 0;

/** What another user can create in place of the folder. Only root can act as another user. */
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

test.each(Object.keys(INTRUDERS))("a %s in place of the folder is renamed with its content", async (kind) => {
  const data = createDataDirectory();
  await using mine = await openFolder(data);
  await INTRUDERS[kind]?.(mine.path);
  await openProgramsFolder(data);
  await using program = await createProgramFolder(mine.path);
  expect(path.dirname(path.dirname(program.path))).toBe(mine.path);
  expect([await isPrivate(mine.path), await readdir(mine.path)]).toEqual([true, ["sandboxes"]]);
  const [renamed = ""] = (await readdir(tmpdir())).filter((name) => name.startsWith(`${path.basename(mine.path)}-`));
  const { size, uid } = await lstat(path.join(tmpdir(), renamed));
  expect(kind === "file" ? size : uid).toBe(kind === "file" ? "theirs".length : 65_534);
});
