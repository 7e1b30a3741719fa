import { copyFile, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
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
    ["[]", "[1]"],
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

test("what a server removes is gone at its next start", async () => {
  await using app = await AppFolders.create();
  await app.run(async () => {
    createDatabase(app.code("app.db"));
    await app.write("notes.json", "[1]");
    await app.write("uploads/1.png", "image");
  });
  await app.run(() => Promise.all(["app.db", "notes.json", "uploads"].map((name) => rm(app.code(name)))));
  expect(await readdir(app.data("."))).toEqual(["beside-code-replaced"]);
  // A start command may have cleared a folder.
  const replaced = await readdir(app.data("beside-code-replaced"));
  expect(replaced.toSorted()).toEqual([
    expect.stringMatching(/^app\.db\.\d+$/),
    expect.stringMatching(/^uploads\.\d+$/),
  ]);
});

test("what a server renames has its new name at the next start", async () => {
  await using app = await AppFolders.create();
  await app.run(async () => {
    createDatabase(app.code("app.db"), 2);
    await app.write("uploads/1.png", "image");
  });
  await app.run(async () => {
    await rename(app.code("app.db"), app.code("old.db"));
    createDatabase(app.code("app.db"), 1);
    await rename(app.code("uploads"), app.code("gallery"));
  });
  await app.start();
  expect([countRows(app.code("app.db")), countRows(app.code("old.db"))]).toEqual([1, 2]);
  expect([await app.read("uploads/1.png"), await app.read("gallery/1.png")]).toEqual([null, "image"]);
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
  expect((await readdir(app.data("beside-code"))).toSorted()).toEqual([".deployed.json", "app.db", "app.db-wal"]);
});

test("a changed database is used although a later deployment brings another one, and the log says so", async () => {
  await using app = await AppFolders.create();
  createDatabase(app.layer("app.db"));
  await app.run(async () => {
    await rm(app.code("app.db"));
    createDatabase(app.code("app.db"), 5);
  });
  expect(await app.start()).toBe("");
  await rm(app.layer("app.db"));
  createDatabase(app.layer("app.db"), 3);
  expect(await app.start()).toBe(
    "The server uses the database app.db that it has changed, /data/beside-code/app.db, and not the other one of this deployment. Remove that file to use the deployed one.",
  );
  expect(countRows(app.code("app.db"))).toBe(5);
});

test("a file that a later deployment changes is used as it was deployed, and what the server wrote stays in /data", async () => {
  await using app = await AppFolders.create();
  await app.deploy("data/db.json", "[]");
  await app.run(() => app.write("data/db.json", "[1]"));
  await app.deploy("data/db.json", "[2]");
  expect(await app.start()).toBe(
    "The server uses data/db.json of this deployment, because it has changed. What the server wrote to it earlier is in /data/beside-code/data/db.json.",
  );
  expect(await app.read("data/db.json")).toBe("[2]");
  // A version that fails leaves all as it was.
  await app.keep();
  expect(await readFile(app.data("beside-code/data/db.json"), "utf8")).toBe("[1]");
  await app.run(() => app.write("data/db.json", "[2,3]"));
  await app.start();
  expect(await app.read("data/db.json")).toBe("[2,3]");
  const [replaced = ""] = await readdir(app.data("beside-code-replaced/data"));
  expect(await readFile(app.data(`beside-code-replaced/data/${replaced}`), "utf8")).toBe("[1]");
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
  expect((await lstat(app.code("public/images/2.png"))).isSymbolicLink()).toBe(true);
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
      ...["server.pid", ".env", "schema.gql", "views/index.js"],
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

test("files of a server that is not one of those that are kept are not placed, such as code that an upload has put into /data", async () => {
  await using app = await AppFolders.create();
  await app.deploy("routes/index.js", "deployed");
  for (const name of ["routes/index.js", "routes/other.js", "node_modules/express.js", ".env"]) {
    await mkdir(path.dirname(app.data(`beside-code/${name}`)), { recursive: true });
    await writeFile(app.data(`beside-code/${name}`), "uploaded");
  }
  await app.start();
  expect(await app.read("routes/index.js")).toBe("deployed");
  for (const name of ["routes/other.js", "node_modules/express.js", ".env"]) expect(await app.read(name)).toBe(null);
});

test("links of the deployment and of declared volumes stay, and what is below them is not taken for removed", async () => {
  await using app = await AppFolders.create();
  await using volume = await temporaryFolder();
  await app.run(async () => {
    await mkdir(app.code("data/nested"), { recursive: true });
    createDatabase(app.code("data/nested/app.db"));
  });
  await app.deploy("data/seed.csv", "1");
  await app.run(async () => {
    expect(countRows(app.code("data/nested/app.db"))).toBe(1);
    await rm(app.code("data"), { recursive: true });
    await symlink(volume.path, app.code("data"));
  });
  expect(countRows(app.data("beside-code/data/nested/app.db"))).toBe(1);
});

test("of two processes of an app that wrote the same file beside each other, both files are kept", async () => {
  await using app = await AppFolders.create();
  await app.start();
  createDatabase(app.code("app.db"), 1);
  await app.run(() => createDatabase(app.code("app.db"), 2));
  await app.keep(1);
  expect(countRows(app.data("beside-code/app.db"))).toBe(1);
  const [replaced = ""] = await readdir(app.data("beside-code-replaced"));
  expect(countRows(app.data(`beside-code-replaced/${replaced}`))).toBe(2);
});

test("keeping files can be repeated after it was killed, and a write-ahead log stays with its database", async () => {
  await using app = await AppFolders.create();
  await app.deploy("db.json", "[]");
  await app.run(() => app.write("db.json", "[1]"));
  await app.start();
  await rm(app.code("db.json"));
  await app.write("db.json", "[1,2]");
  using database = new DatabaseSync(app.code("app.db"));
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE visits (id INTEGER); INSERT INTO visits VALUES (1)");
  // As if it had been killed after it had copied the log.
  await copyFile(app.code("app.db-wal"), app.data("beside-code/app.db-wal"));
  await app.keep();
  await app.keep();
  await app.start();
  expect(await app.read("db.json")).toBe("[1,2]");
  expect(countRows(app.code("app.db"))).toBe(1);
});
