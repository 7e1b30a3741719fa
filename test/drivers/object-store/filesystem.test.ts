import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FilesystemObjectStore } from "../../../server/drivers/object-store/filesystem.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("a link among the objects is neither read nor listed", async () => {
  await using folder = await temporaryFolder();
  await using host = await temporaryFolder();
  const store = new FilesystemObjectStore(folder.path);
  await writeFile(join(host.path, "secret"), "secret");
  await store.put("apps", "a", Buffer.from("x"));
  await symlink(join(host.path, "secret"), join(folder.path, "apps", "link"));
  await symlink(host.path, join(folder.path, "apps", "+folder"));
  expect(await store.list("apps")).toEqual([{ key: "a", size: 1 }]);
  await expect(store.get("apps", "link")).rejects.toThrow("ELOOP");
  await store.removeBucket("apps");
  expect(await readdir(host.path)).toEqual(["secret"]);
});

test("removing the last object of a folder removes the folder", async () => {
  await using folder = await temporaryFolder();
  const store = new FilesystemObjectStore(folder.path);
  await store.put("apps", "a/b/c", Buffer.from("x"));
  await store.remove("apps", "a/b/c");
  expect((await readdir(folder.path)).filter((name) => !name.startsWith("."))).toEqual([]);
});

test("folders whose names are not bucket names are not listed as buckets", async () => {
  await using folder = await temporaryFolder();
  const store = new FilesystemObjectStore(folder.path);
  await mkdir(join(folder.path, ".limbo"));
  await store.put("apps", "a", Buffer.from("x"));
  expect(await store.listBuckets()).toEqual(["apps"]);
});
