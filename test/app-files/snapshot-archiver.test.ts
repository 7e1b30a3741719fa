import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { SnapshotArchiver } from "../../server/app-files/snapshot-archiver.ts";
import { SqliteReader } from "../../server/platforms/embedded/app-databases/sqlite-reader.ts";
import { createUnpack } from "../../server/platforms/embedded/launchers.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Archived extends AsyncDisposable {
  archiver: SnapshotArchiver;
  /** The folder of an app. */
  data: string;
  /** Packs the folder, and unpacks it to another one. */
  copy(): Promise<{ folder: string; warnings: string[] }>;
}

async function openFolders(): Promise<Archived> {
  const folder = await temporaryFolder();
  const inside = (name: string) => path.join(folder.path, name);
  for (const name of ["data", "work", "copy"]) await mkdir(inside(name));
  const sandbox = new BubblewrapSandbox({ kind: "apps" });
  const sqlite = new SqliteReader({ sandbox, copyRoot: inside("work") });
  const archiver = new SnapshotArchiver({ sqlite, workFolder: inside("work") });
  const signal = AbortSignal.timeout(60_000);
  return {
    archiver,
    data: inside("data"),
    async copy() {
      const warnings = await archiver.pack(inside("data"), inside("data.tar.zst"), signal);
      await createUnpack(sandbox)(inside("data.tar.zst"), inside("copy"), signal);
      return { folder: inside("copy"), warnings };
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("files, folders and links are restored with their permissions", async () => {
  await using t = await openFolders();
  const long = `${"long-".repeat(40)}name`;
  await mkdir(path.join(t.data, "empty"));
  await mkdir(path.join(t.data, "folder"));
  await writeFile(path.join(t.data, "folder", "ünï code\n.txt"), "text");
  await writeFile(path.join(t.data, long), Buffer.from([0, 255, 10]));
  await writeFile(path.join(t.data, "program"), "");
  await chmod(path.join(t.data, "program"), 0o750);
  await utimes(path.join(t.data, "program"), -1, -1);
  await symlink("/etc/passwd", path.join(t.data, "outside"));
  const { folder, warnings } = await t.copy();
  expect(await readdir(folder, { recursive: true }).then((names) => names.toSorted())).toEqual(
    ["empty", "folder", "folder/ünï code\n.txt", long, "outside", "program"].toSorted(),
  );
  expect(await readFile(path.join(folder, "folder", "ünï code\n.txt"), "utf8")).toBe("text");
  expect([...(await readFile(path.join(folder, long)))]).toEqual([0, 255, 10]);
  expect((await lstat(path.join(folder, "program"))).mode & 0o777).toBe(0o750);
  expect(await readlink(path.join(folder, "outside"))).toBe("/etc/passwd");
  expect(warnings).toEqual([]);
});

test("a name that is not UTF-8 is left out with a warning", async () => {
  await using t = await openFolders();
  await writeFile(Buffer.concat([Buffer.from(`${t.data}/`), Buffer.from([0x61, 0xff])]), "text");
  await writeFile(path.join(t.data, "kept"), "text");
  const { folder, warnings } = await t.copy();
  expect(await readdir(folder)).toEqual(["kept"]);
  expect(warnings).toEqual([expect.stringContaining("has a name that is not UTF-8")]);
});

test("a database that is open for writing has all committed rows in the copy, also in its write-ahead log", async () => {
  await using t = await openFolders();
  using database = new DatabaseSync(path.join(t.data, "app.db"));
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE notes(text); INSERT INTO notes VALUES ('one'); BEGIN");
  database.exec("INSERT INTO notes VALUES ('not committed')");
  const { folder } = await t.copy();
  using copy = new DatabaseSync(path.join(folder, "app.db"));
  expect(copy.prepare("SELECT text FROM notes").all()).toEqual([{ text: "one" }]);
});

test("the fingerprint changes with each change, and is empty without files", async () => {
  await using t = await openFolders();
  const seen = [await t.archiver.fingerprint(path.join(t.data, "missing")), await t.archiver.fingerprint(t.data)];
  expect(seen).toEqual(["", ""]);
  const file = path.join(t.data, "file");
  for (const change of [
    () => writeFile(file, "a"),
    () => writeFile(file, "b"),
    () => chmod(file, 0o600),
    () => symlink("file", path.join(t.data, "link")),
    () => mkdir(path.join(t.data, "folder")),
  ]) {
    await change();
    seen.push(await t.archiver.fingerprint(t.data));
    expect(await t.archiver.fingerprint(t.data)).toBe(seen.at(-1));
  }
  expect(new Set(seen.slice(1)).size).toBe(6);
});
