import { randomBytes } from "node:crypto";
import { mkdir, readFile, readlink, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { packTree, unpackTree } from "../../server/sandbox/tree-archive/tree-archive.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LIMITS = { wallTimeMs: 60_000, memoryMb: 512, processes: 16, fileSizeMb: 256, diskMb: 512, outputBytes: 10_000 };

const request = () => ({ sandbox: new BubblewrapSandbox(), limits: LIMITS, signal: new AbortController().signal });

/** A folder with files, beside folders for the archives and what is unpacked. */
async function givenTree(files: Readonly<Record<string, string | Uint8Array>>) {
  const folder = await temporaryFolder();
  const [tree, output, unpacked] = ["tree", "output", "unpacked"].map((name) => path.join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [tree, output, unpacked]) await mkdir(each, { mode: 0o755 });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(tree, name)), { recursive: true });
    await writeFile(path.join(tree, name), content);
  }
  return {
    tree,
    unpacked,
    pack: () => packTree(request(), { folder: tree, mountedAt: "/build", output }),
    unpack: (archive: string) => unpackTree(request(), archive, unpacked),
    exists: (name: string) =>
      stat(path.join(unpacked, name)).then(
        () => true,
        () => false,
      ),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const PACKAGES = {
  "node_modules/a/index.js": "a",
  "node_modules/@b/c/index.js": "c",
  "packages/x/node_modules/d.js": "d",
};

test("files and packages are two layers, and unpacking both restores all files", async () => {
  await using given = await givenTree({ "server.js": "server", "lib/ünïcode name\n.js": "lib", ...PACKAGES });
  const layers = await given.pack();
  expect(layers.map((layer) => path.basename(layer.path))).toEqual(["files.tar.zst", "packages.tar.zst"]);
  await given.unpack(layers[0]!.path);
  expect([await given.exists("server.js"), await given.exists("node_modules")]).toEqual([true, false]);
  await given.unpack(layers[1]!.path);
  for (const [name, text] of Object.entries({ "lib/ünïcode name\n.js": "lib", ...PACKAGES }))
    expect(await readFile(path.join(given.unpacked, name), "utf8")).toBe(text);
});

test("two installs of the same packages have the same digest, and other packages another one", async () => {
  const digests = async (files: Readonly<Record<string, string>>, seconds: number) => {
    await using given = await givenTree({ "server.js": `${seconds}`, ...files });
    for (const name of Object.keys(files)) await utimes(path.join(given.tree, name), seconds, seconds);
    return (await given.pack()).map(({ digest }) => digest);
  };
  const first = await digests(PACKAGES, 1000);
  const second = await digests(Object.fromEntries(Object.entries(PACKAGES).toReversed()), 2000);
  const changed = await digests({ ...PACKAGES, "node_modules/a/index.js": "b" }, 1000);
  expect(second[1]).toBe(first[1]);
  expect(second[0]).not.toBe(first[0]);
  expect(changed[1]).not.toBe(first[1]);
});

test("the history and the caches of builds are left out, and files with similar names are not", async () => {
  const kept = [".gitignore", "src/.git-keep", ".next/server.js", "src/.turbo/kept.js", "node_modules/a/.cache.js"];
  const omitted = [".git/HEAD", ".next/cache/x", ".turbo/x", ".wrangler/x", "node_modules/.cache/x"];
  await using given = await givenTree(Object.fromEntries([...kept, ...omitted].map((name) => [name, name])));
  for (const layer of await given.pack()) await given.unpack(layer.path);
  expect(await Promise.all(kept.map(given.exists))).toEqual(kept.map(() => true));
  expect(await Promise.all(omitted.map(given.exists))).toEqual(omitted.map(() => false));
});

test("links stay links, wherever they lead, and programs can be executed", async () => {
  await using given = await givenTree({ "node_modules/tool/cli.js": "#!/usr/bin/env node", "run.sh": "" });
  await mkdir(path.join(given.tree, "node_modules/.bin"));
  await symlink("../tool/cli.js", path.join(given.tree, "node_modules/.bin/tool"));
  await symlink("/etc/passwd", path.join(given.tree, "outside"));
  await symlink("/", path.join(given.tree, "root"));
  for (const layer of await given.pack()) await given.unpack(layer.path);
  const links = ["node_modules/.bin/tool", "outside", "root"].map((name) => readlink(path.join(given.unpacked, name)));
  expect(await Promise.all(links)).toEqual(["../tool/cli.js", "/etc/passwd", "/"]);
});

test("a damaged archive, and one that is cut off, are not unpacked", async () => {
  await using given = await givenTree({ "large.bin": randomBytes(1_000_000), "small.txt": "text" });
  const [layer] = await given.pack();
  await truncate(layer!.path, 500_000);
  await expect(given.unpack(layer!.path)).rejects.toThrow("The files could not be unpacked");
  await writeFile(layer!.path, "no archive");
  await expect(given.unpack(layer!.path)).rejects.toThrow("The files could not be unpacked");
});

test("small archives are unpacked completely every time", async () => {
  await using given = await givenTree({ "a.txt": "a" });
  const [layer] = await given.pack();
  for (let count = 0; count < 10; count++) await given.unpack(layer!.path);
  expect(await readFile(path.join(given.unpacked, "a.txt"), "utf8")).toBe("a");
});
