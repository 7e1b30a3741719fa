import { randomUUID } from "node:crypto";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { bucketOf } from "../../../server/drivers/agent-workspaces/archive-place.ts";
import { removeTree } from "../../../server/files/remove-tree.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { writableAt } from "../../contract/sandbox.ts";
import { openTestWorkspaces } from "../../support/agents/test-workspaces.ts";
import { runScript } from "../../support/sandbox/sandbox-command.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const NEVER = new AbortController().signal;

/** A store, and a folder that untrusted code fills. */
async function openStore() {
  const temporary = await temporaryFolder();
  const { workspaces, objects, ...opened } = await openTestWorkspaces();
  const folder = path.join(temporary.path, "volume");
  await mkdir(folder);
  await chmod(temporary.path, 0o755);
  const id = { orgId: randomUUID(), agentId: randomUUID() };
  const save = () => workspaces.open(id, { readOnly: false, signal: NEVER }, (opened) => opened.save(folder));
  const readText = async (file: string) => {
    const part = await workspaces.readFile(id, file, { offset: 0, length: 1000 });
    return part === null ? null : Buffer.from(part.bytes).toString();
  };
  return {
    path: temporary.path,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await removeTree(temporary.path);
    },
    folder,
    save,
    readText,
    archive: async () => {
      const [stored] = await objects.list(bucketOf(id));
      return Buffer.from((await objects.get(bucketOf(id), stored!.key))!).toString("latin1");
    },
    listPaths: async () => (await workspaces.list(id)).files.map((file) => file.path),
    /** Runs a script in a sandbox with the folder as its working folder. */
    attack: (script: string) => runScript(new BubblewrapSandbox(), script, writableAt(folder)),
  };
}

verifies(
  [hazard(15), hazard(16)],
  "links, pipes and sockets of a program are left out, and nothing outside of its workspace is read",
  async () => {
    await using store = await openStore();
    await writeFile(path.join(store.path, "secret"), "of the host");
    await symlink(path.join(store.path, "secret"), path.join(store.folder, "planted"));
    await symlink(store.path, path.join(store.folder, "planted-folder"));
    const { output } = await store.attack(`
      ln -s /etc/passwd passwd; ln -s / root; ln -s ../secret relative; ln -s . self; ln -s absent dangling
      mkfifo pipe; mknod device c 1 3 2>/dev/null
      perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "socket", Listen => 1) or die'
      mkdir folder; ln -s ../../secret folder/link; echo mine >file; ls -A | wc -l`);
    expect(output.toString().trim()).toBe("11");
    expect(await store.save()).toEqual({ problem: null, omitted: 10 });
    expect(await store.listPaths()).toEqual(["file"]);
    expect(await store.archive()).not.toMatch(/of the host|root:/);
    for (const file of ["planted", "planted-folder/secret", "root/etc/passwd", "folder/link"])
      expect([file, await store.readText(file)]).toEqual([file, null]);
  },
);

test("hard links become separate files, and permissions such as setuid are not kept", async () => {
  await using store = await openStore();
  await store.attack(
    "echo mine >a; ln a b; mkdir f; ln a f/c; chmod 6777 a; mkdir -m 000 closed; echo x >d; chmod 000 d",
  );
  expect(await store.save()).toEqual({ problem: null, omitted: 0 });
  expect(await store.listPaths()).toEqual(["a", "b", "d", "f/c"]);
  expect(await store.readText("f/c")).toBe("mine\n");
  expect(await store.archive()).not.toContain("6777");
});

test("names that are not UTF-8, and paths that are too long, are left out", async () => {
  await using store = await openStore();
  await store.attack(`perl -e '
    mkdir "\\xff\\xfe"; open F, ">", "\\xff\\xfe/inside"; open F, ">", "surrogate\\xed\\xa0\\x80"; open F, ">", "ok\\n\\xc3\\xa9";
    for (1 .. 300) { mkdir "d" x 200 or die; chdir "d" x 200 or die } open F, ">", "deepest"'`);
  expect(await store.save()).toEqual({ problem: null, omitted: 3 });
  expect(await store.listPaths()).toEqual(["ok\né"]);
});

test("names that look like options, paths or prototypes are data", async () => {
  await using store = await openStore();
  const names = ["-rf", "...", "..\\..\\x", "__proto__", "constructor", "C:", "a:b", ".drafts"];
  for (const name of names) await writeFile(path.join(store.folder, name), name);
  expect(await store.save()).toEqual({ problem: null, omitted: 0 });
  expect(await store.listPaths()).toEqual(names.toSorted());
  for (const name of names) expect(await store.readText(name)).toBe(name);
});

test("sparse files count with their full size, and are not read", async () => {
  await using store = await openStore();
  await store.attack("for n in 1 2 3 4 5 6 7 8; do truncate -s 15M $n; done");
  expect(await store.save()).toEqual({ problem: expect.stringContaining("Its files have 120 MiB"), omitted: 0 });
  expect(await store.listPaths()).toEqual([]);
});

test("many small files count in whole blocks, so that they fit into the next volume", async () => {
  await using store = await openStore();
  await store.attack("truncate -s 60M large; for n in $(seq 1500); do echo $n >$n; done");
  expect(await store.save()).toMatchObject({ problem: expect.stringContaining("Its files have 66 MiB") });
});

test("more than 2,000 files and folders are not saved, however they are nested", async () => {
  await using store = await openStore();
  await store.attack("for n in $(seq 2000); do mkdir $n; done");
  expect(await store.save()).toEqual({ problem: null, omitted: 0 });
  await store.attack("mkdir 1/2");
  expect(await store.save()).toEqual({ problem: expect.stringContaining("more than 2000"), omitted: 0 });
});

test("times of change outside of the years 1970 to 9999 become the nearest one", async () => {
  await using store = await openStore();
  await store.attack(
    "touch -d 1901-01-01 past; touch -d @8210298412799 future; touch -d '2020-02-02 02:02:02.5Z' normal",
  );
  await store.save();
  const archive = await store.archive();
  expect(archive).toContain(`["past",0,0]`);
  expect(archive).toContain(`["normal",0,1580608922500]`);
  // Some file systems have an earlier last time.
  expect(archive).toMatch(/\["future",0,(253402300799999|15032385535000)\]/);
});
