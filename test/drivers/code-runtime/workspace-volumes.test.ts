import { existsSync } from "node:fs";
import { lstat, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { openProgramsFolder } from "../../../server/drivers/code-runtime/program-folders.ts";
import { WorkspaceVolumes } from "../../../server/drivers/code-runtime/workspace-volumes.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { unmountVolumes } from "../../../server/sandbox/memory-volume.ts";
import { writableAt } from "../../contract/sandbox.ts";
import { hasVolumesInMemory } from "../../support/procedures/deno-runtime.ts";
import { runScript } from "../../support/sandbox/sandbox-command.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

async function openVolumes(mountedCount: number | null) {
  const folder = await temporaryFolder();
  const programsFolder = path.join(folder.path, "programs");
  const volumes = new WorkspaceVolumes({ programsFolder, mountedCount });
  return {
    volumes,
    programsFolder,
    [Symbol.asyncDispose]: async () => {
      await unmountVolumes(folder.path);
      await folder[Symbol.asyncDispose]();
    },
  };
}

const mountsBelow = async (folder: string) =>
  (await readFile("/proc/self/mountinfo", "utf8")).split("\n").filter((line) => line.includes(`${folder}/`)).length;

/** Leaves files that are hard to remove. */
const FILL = `ln -s /etc/passwd link; mkfifo pipe; mkdir -p a/b; chmod 000 a/b; echo x >file; chmod 000 file
  perl -e 'open F, ">", "\\xff"; mkdir "\\xfe"; open F, ">", "\\xfe/x"; for (1 .. 100) { mkdir "d" x 200; chdir "d" x 200 }'; ls -A | wc -l`;

const KINDS = hasVolumesInMemory ? ([2, null] as const) : ([null] as const);

describe.each(KINDS)("volumes of programs (%s in memory)", (mountedCount) => {
  verifies(hazard(49), "a volume is empty for the next program, whatever the last one left", async () => {
    await using opened = await openVolumes(mountedCount);
    for (let n = 0; n < 4; n++) {
      await using volume = await opened.volumes.acquire();
      expect(await readdir(volume.path, { encoding: "buffer" })).toEqual([]);
      const { output } = await runScript(new BubblewrapSandbox(), FILL, writableAt(volume.path));
      expect(output.toString().trim()).toBe("7");
      await symlink(opened.programsFolder, path.join(volume.path, "programs"));
    }
    expect(existsSync(opened.programsFolder)).toBe(true);
    expect(existsSync("/etc/passwd")).toBe(true);
  });

  test("the programs folder is removed with the volumes", async () => {
    await using opened = await openVolumes(mountedCount);
    const volume = await opened.volumes.acquire();
    await writeFile(path.join(volume.path, "file"), "x");
    await volume[Symbol.asyncDispose]();
    await opened.volumes[Symbol.asyncDispose]();
    expect(await mountsBelow(opened.programsFolder)).toBe(0);
    expect(await readdir(path.join(opened.programsFolder, "sandboxes"))).toEqual([]);
  });
});

describe.skipIf(!hasVolumesInMemory)("volumes in memory", () => {
  test("when all are in use, the next program waits for one", async () => {
    await using opened = await openVolumes(2);
    const first = await opened.volumes.acquire();
    await using second = await opened.volumes.acquire();
    const third = opened.volumes.acquire();
    expect(await Promise.race([third, new Promise((resolve) => setTimeout(resolve, 50, "waits"))])).toBe("waits");
    await first[Symbol.asyncDispose]();
    await using received = await third;
    expect([received.path, received.path === second.path]).toEqual([first.path, false]);
    expect(await mountsBelow(opened.programsFolder)).toBe(2);
  });

  test("those of a killed service are unmounted at the next start", async () => {
    await using data = await temporaryFolder();
    const programsFolder = await openProgramsFolder(data.path);
    const volume = await new WorkspaceVolumes({ programsFolder, mountedCount: 3 }).acquire();
    await writeFile(path.join(volume.path, "left"), "x");
    expect(await mountsBelow(programsFolder)).toBe(3);
    expect(await openProgramsFolder(data.path)).toBe(programsFolder);
    expect(await mountsBelow(programsFolder)).toBe(0);
    await expect(lstat(programsFolder)).rejects.toThrow("ENOENT");
  });
});
