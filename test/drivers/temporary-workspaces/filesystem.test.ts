import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { FilesystemTemporaryWorkspaces } from "../../../server/drivers/temporary-workspaces/filesystem.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

describe("workspaces on the file system", () => {
  verifies(hazard(15), "sourceFiles returns regular files only and does not follow links", async () => {
    await using folder = await temporaryFolder();
    const workspace = await new FilesystemTemporaryWorkspaces(folder.path).open("build", 1);
    await mkdir(path.join(workspace.sourceDirectory, "src"));
    await writeFile(path.join(workspace.sourceDirectory, "src", "b.ts"), "b");
    await writeFile(path.join(workspace.sourceDirectory, "a.ts"), "a");
    await symlink("/etc/passwd", path.join(workspace.sourceDirectory, "file"));
    await symlink("/etc", path.join(workspace.sourceDirectory, "folder"));
    await symlink("..", path.join(workspace.sourceDirectory, "src", "up"));
    const files: [string, string][] = [];
    for await (const file of workspace.sourceFiles())
      files.push([file.path, new TextDecoder().decode(await file.read())]);
    expect(files).toEqual([
      ["a.ts", "a"],
      ["src/b.ts", "b"],
    ]);
  });

  verifies(
    [hazard(16), hazard(44)],
    "two attempts share no files, and a file that was replaced by a link is not read",
    async () => {
      await using folder = await temporaryFolder();
      const workspaces = new FilesystemTemporaryWorkspaces(folder.path);
      const [first, second] = [await workspaces.open("build", 1), await workspaces.open("build", 2)];
      await writeFile(path.join(first.sourceDirectory, "a.ts"), "first");
      expect(await readdir(second.sourceDirectory)).toEqual([]);
      const paths: string[] = [];
      for await (const file of first.sourceFiles()) {
        paths.push(file.path);
        await first.remove();
        await mkdir(first.sourceDirectory, { recursive: true });
        await symlink("/etc/passwd", path.join(first.sourceDirectory, "a.ts"));
        await expect(file.read()).rejects.toThrow("ELOOP");
      }
      expect(paths).toEqual(["a.ts"]);
      expect(await readdir(second.sourceDirectory)).toEqual([]);
    },
  );

  verifies(hazard(18), "workspaces with deeply nested folders are removed", async () => {
    await using folder = await temporaryFolder();
    const workspaces = new FilesystemTemporaryWorkspaces(path.join(folder.path, "builds"));
    const [first, second] = [await workspaces.open("build", 1), await workspaces.open("build", 2)];
    for (const { sourceDirectory } of [first, second]) await nestFolders(sourceDirectory);
    await first.remove();
    await workspaces.clear();
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("a workspace is empty when it is opened, and clear removes all workspaces", async () => {
    await using folder = await temporaryFolder();
    const workspaces = new FilesystemTemporaryWorkspaces(path.join(folder.path, "builds"));
    const earlier = await workspaces.open("build", 1);
    await writeFile(path.join(earlier.sourceDirectory, "old.txt"), "old");
    expect(await readdir((await workspaces.open("build", 1)).sourceDirectory)).toEqual([]);
    await workspaces.clear();
    await workspaces.clear();
    expect(await readdir(folder.path)).toEqual([]);
  });
});

/** Makes a path that is longer than the kernel accepts. It is built in two halves, each of which is short enough. */
async function nestFolders(directory: string): Promise<void> {
  const half = Array.from({ length: 16 }, () => "d".repeat(200)).join("/");
  for (const top of ["upper", "lower"]) await mkdir(path.join(directory, top, half), { recursive: true });
  await rename(path.join(directory, "lower"), path.join(directory, "upper", half, "lower"));
}
