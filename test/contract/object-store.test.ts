import { readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FilesystemObjectStore } from "../../server/drivers/object-store/filesystem.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { objectStoreContract } from "./object-store.ts";

async function onFilesystem() {
  const folder = await temporaryFolder();
  const root = join(folder.path, "objects");
  return { root, store: new FilesystemObjectStore(root), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

objectStoreContract("file system", onFilesystem);

test("a link among the objects is neither read nor listed", async () => {
  await using setting = await onFilesystem();
  await using host = await temporaryFolder();
  await writeFile(join(host.path, "secret"), "secret");
  await setting.store.put("apps", "a", Buffer.from("x"));
  await symlink(join(host.path, "secret"), join(setting.root, "apps", "link"));
  await symlink(host.path, join(setting.root, "apps", "+way"));
  expect(await setting.store.list("apps")).toEqual([{ key: "a", size: 1 }]);
  await expect(setting.store.get("apps", "link")).rejects.toThrow("ELOOP");
  await setting.store.removeBucket("apps");
  expect(await readdir(host.path)).toEqual(["secret"]);
});

test("a folder whose last object is removed goes with it", async () => {
  await using setting = await onFilesystem();
  await setting.store.put("apps", "a/b/c", Buffer.from("x"));
  await setting.store.remove("apps", "a/b/c");
  expect((await readdir(setting.root)).filter((name) => !name.startsWith("."))).toEqual([]);
});
