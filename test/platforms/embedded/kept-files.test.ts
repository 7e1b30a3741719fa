import { randomUUID } from "node:crypto";
import { copyFile, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { keepFilesOfKilled, placeFiles } from "../../../server/platforms/embedded/node-server/launch-files.ts";
import { AppFolders } from "../../support/edge/app-folders.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

function createDatabase(file: string, rows = 1): void {
  using database = new DatabaseSync(file);
  database.exec("CREATE TABLE visits (id INTEGER PRIMARY KEY)");
  for (let row = 0; row < rows; row++) database.exec("INSERT INTO visits DEFAULT VALUES");
}

function countRows(file: string): number {
  using database = new DatabaseSync(file);
  return Number(database.prepare("SELECT count(*) AS count FROM visits").get()?.["count"]);
}

test("a database, a file and a folder that a server creates are there at its next start, and can be changed again", async () => {
  await using app = await AppFolders.create();
  const added = await app.run(async () => {
    createDatabase(app.code("app.db"));
    await app.write("notes.json", "[1]");
    await app.write("uploads/images/1.png", "image");
  });
  expect(added).toEqual(["app.db", "notes.json", "uploads"]);
  const again = await app.run(async () => {
    expect(countRows(app.code("app.db"))).toBe(1);
    expect(await app.read("notes.json")).toBe("[1]");
    expect(await app.read("uploads/images/1.png")).toBe("image");
    await app.write("notes.json", "[1,2]");
    await app.write("uploads/2.png", "image");
    using database = new DatabaseSync(app.code("app.db"));
    database.exec("INSERT INTO visits DEFAULT VALUES");
  });
  expect(again).toEqual([]);
  await app.start();
  expect(countRows(app.code("app.db"))).toBe(2);
  expect(await app.read("notes.json")).toBe("[1,2]");
  expect((await readdir(app.code("uploads"))).toSorted()).toEqual(["2.png", "images"]);
});

test("a file of the deployment that a server replaces each time keeps its newest content", async () => {
  await using app = await AppFolders.create();
  await app.deploy("db.json", "[]");
  for (const [before, text] of [
    [null, "[1]"],
    ["[1]", "[1,2]"],
    ["[1,2]", "[1,2,3]"],
  ] as const)
    await app.run(async () => {
      await app.write("draft.json", text);
      expect(await app.read("db.json")).toBe(before);
      await rename(app.code("draft.json"), app.code("db.json"));
    });
  await app.start();
  expect(await app.read("db.json")).toBe("[1,2,3]");
});

test("what a server removes is gone at its next start, and a removed database can be found in /data", async () => {
  await using app = await AppFolders.create();
  await app.run(async () => {
    createDatabase(app.code("app.db"));
    await app.write("notes.json", "[1]");
  });
  await app.run(() => Promise.all(["app.db", "notes.json"].map((name) => rm(app.code(name)))));
  await app.start();
  expect([await app.read("app.db"), await app.read("notes.json")]).toEqual([null, null]);
  expect(countRows(app.data("replaced-files/app.db"))).toBe(1);
});

test("a database that a server renames is not lost", async () => {
  await using app = await AppFolders.create();
  await app.run(() => createDatabase(app.code("app.db"), 2));
  await app.run(async () => {
    await rename(app.code("app.db"), app.code("old.db"));
    createDatabase(app.code("app.db"), 1);
  });
  await app.start();
  expect(countRows(app.code("app.db"))).toBe(1);
  expect(countRows(app.data("replaced-files/app.db"))).toBe(2);
});

test("a deployed database is kept if the server has changed it, and not if it was only opened or got another journal mode", async () => {
  await using app = await AppFolders.create();
  createDatabase(app.layer("app.db"));
  const copy = () => copyFile(app.layer("app.db"), app.code("app.db"));
  const added = await app.run(async () => {
    await copy();
    using database = new DatabaseSync(app.code("app.db"));
    database.exec(
      "PRAGMA journal_mode = WAL; PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL; SELECT * FROM visits",
    );
  });
  expect(added).toEqual([]);
  expect(
    await app.run(async () => {
      await copy();
      await writeFile(app.code("app.db-wal"), "changes");
    }),
  ).toEqual(["app.db"]);
  expect((await readdir(app.data("files"))).toSorted()).toEqual([".deployed.json", "app.db", "app.db-wal"]);
});

test("a changed database is used although a later deployment brings another one, and the log says so", async () => {
  await using app = await AppFolders.create();
  createDatabase(app.layer("app.db"));
  await app.run(() => createDatabase(app.code("app.db"), 5));
  expect((await app.start()).notices).toEqual([]);
  await rm(app.layer("app.db"));
  createDatabase(app.layer("app.db"), 3);
  expect((await app.start()).notices).toEqual([
    'The SQLite database "app.db" of this deployment is another one than before. The server uses the one that it has changed, which is "/data/files/app.db".',
  ]);
  expect(countRows(app.code("app.db"))).toBe(5);
});

test("a file that a later deployment changes is used as it was deployed, and what the server wrote is in /data", async () => {
  await using app = await AppFolders.create();
  await app.deploy("data/db.json", "[]");
  await app.run(() => app.write("data/db.json", "[1]"));
  await app.deploy("data/db.json", "[2]");
  const { files, notices } = await app.start();
  expect(notices).toEqual([
    'This deployment has changed the file "data/db.json", so the server uses that. What the server wrote to it earlier is in "/data/replaced-files/data/db.json".',
  ]);
  expect(await app.read("data/db.json")).toBe(null);
  expect(await readFile(app.data("replaced-files/data/db.json"), "utf8")).toBe("[1]");
  await app.write("data/db.json", "[2,3]");
  await files.keep();
  await app.start();
  expect(await app.read("data/db.json")).toBe("[2,3]");
});

test("a folder of which the repository has only a placeholder is kept, and files beside deployed ones one by one", async () => {
  await using app = await AppFolders.create();
  await app.deploy("uploads/.gitkeep", "");
  await app.deploy("public/images/logo.png", "deployed");
  const added = await app.run(async () => {
    await app.write("uploads/1.png", "image");
    await app.write("public/images/2.png", "image");
    await app.write("public/avatars/3.png", "image");
  });
  expect(added).toEqual(["public/avatars", "public/images/2.png", "uploads"]);
  await app.start();
  expect((await lstat(app.code("uploads"))).isSymbolicLink()).toBe(true);
  expect((await lstat(app.code("public"))).isDirectory()).toBe(true);
  expect((await lstat(app.code("public/images/2.png"))).isFile()).toBe(true);
  expect(await app.read("public/avatars/3.png")).toBe("image");
});

test("a kept folder that a later deployment brings has the files of both", async () => {
  await using app = await AppFolders.create();
  await app.run(() => app.write("posts/mine.md", "mine"));
  await app.deploy("posts/theirs.md", "theirs");
  await app.start();
  expect((await lstat(app.code("posts"))).isDirectory()).toBe(true);
  expect(await app.read("posts/mine.md")).toBe("mine");
});

test("packages, code, outputs, caches, logs and settings of tools are not kept, and databases in an output folder are", async () => {
  await using app = await AppFolders.create();
  for (const name of ["package.json", "tsconfig.json", "views/index.html"]) await app.deploy(name, "{}");
  const added = await app.run(async () => {
    for (const name of [
      ...["package.json", "tsconfig.json", "views/index.html", "node_modules/a/index.js", "node_modules/a/data.json"],
      ...["dist/index.js", "dist/data.json", ".next/cache/page.json", "tmp/upload.png", "logs/app.txt", "app.log"],
      ...["server.pid", ".env", "schema.gql", "compiled/index.js", "compiled/index.css"],
    ])
      await app.write(name, "changed");
    createDatabase(app.code("dist/app.db"));
    createDatabase(app.code("node_modules/a/cache.db"));
  });
  expect(added).toEqual(["dist/app.db"]);
  await app.start();
  expect(countRows(app.code("dist/app.db"))).toBe(1);
  expect((await lstat(app.code("dist"))).isDirectory()).toBe(true);
});

test("links in /data are not followed", async () => {
  await using app = await AppFolders.create();
  await using outside = await temporaryFolder();
  await writeFile(path.join(outside.path, "secret.json"), "secret");
  await mkdir(app.data("files/deployed"), { recursive: true });
  await app.deploy("deployed/own.json", "{}");
  await app.deploy("linked/own.json", "{}");
  await symlink(outside.path, app.data("files/linked"));
  await symlink(path.join(outside.path, "secret.json"), app.data("files/deployed/secret.json"));
  await app.run(async () => {
    expect(await app.read("deployed/secret.json")).toBe(null);
    expect(await app.read("linked/secret.json")).toBe(null);
    await app.write("linked/new.json", "{}");
  });
  expect(await readdir(outside.path)).toEqual(["secret.json"]);
  await rm(app.data("files"), { recursive: true });
  await symlink(outside.path, app.data("files"));
  await app.run(async () => {
    expect(await app.read("secret.json")).toBe(null);
    await app.write("new.json", "{}");
  });
  expect(await readdir(outside.path)).toEqual(["secret.json"]);
});

test("of two processes of an app that wrote the same file beside each other, both files are kept", async () => {
  await using app = await AppFolders.create();
  const { files } = await app.start();
  createDatabase(app.code("app.db"), 1);
  await app.run(() => createDatabase(app.code("app.db"), 2));
  await files.keep();
  const kept = (await readdir(app.data("files"))).toSorted();
  expect(kept).toEqual(["app.db", expect.stringMatching(/^app\.db\.\d+$/)]);
  expect(kept.map((name) => countRows(app.data(`files/${name}`)))).toEqual([2, 1]);
});

test("what a running server has written is known before its end", async () => {
  await using app = await AppFolders.create();
  const { files } = await app.start();
  expect(await files.hasUnkept()).toBe(false);
  await app.write("notes.json", "[]");
  expect(await files.hasUnkept()).toBe(true);
  await files.keep();
  const again = await app.start();
  expect(await again.files.hasUnkept()).toBe(false);
});

test("the files of a server that was killed with the service are kept as at its end", async () => {
  await using app = await AppFolders.create();
  const launches = path.join(app.root, "run");
  await mkdir(path.join(launches, "other"), { recursive: true });
  const start = async () => {
    const launch = path.join(launches, randomUUID());
    await mkdir(launch);
    await placeFiles(launch, await app.prepare(), undefined);
    return launch;
  };
  const first = await start();
  await app.write("notes.json", "[1]");
  const errors: unknown[] = [];
  await keepFilesOfKilled(launches, (error) => errors.push(error));
  await rm(first, { recursive: true });
  await start();
  expect(await app.read("notes.json")).toBe("[1]");
  await rm(app.code("notes.json"));
  await app.write("other.json", "[2]");
  await keepFilesOfKilled(launches, (error) => errors.push(error));
  await app.start();
  expect([await app.read("notes.json"), await app.read("other.json"), errors]).toEqual([null, "[2]", []]);
});
