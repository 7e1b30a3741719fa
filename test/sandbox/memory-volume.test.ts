import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FilesystemTemporaryWorkspaces } from "../../server/drivers/temporary-workspaces/filesystem.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { openControlGroups } from "../../server/sandbox/cgroups/open-control-groups.ts";
import { volumeProblem } from "../../server/sandbox/memory-volume.ts";
import { fillInFlight } from "../support/sandbox/in-flight-files.ts";
import { runIn, runScript } from "../support/sandbox/sandbox-command.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { writableAt } from "../contract/sandbox.ts";

const SMALL = { users: "builds", count: 1, sizeMb: 1, processMb: 1 } as const;

await using probed = await temporaryFolder();
const problem = await volumeProblem(probed.path, SMALL);
if (problem !== null) process.stderr.write(`SKIPPED: no volumes in memory on this host, because ${problem}\n`);

/** TemporaryWorkspaces with a volume each, which are removed even if the test fails. */
async function openWorkspaces(
  volumeMb: number,
): Promise<{ workspaces: FilesystemTemporaryWorkspaces } & TemporaryFolder> {
  const folder = await temporaryFolder();
  const workspaces = new FilesystemTemporaryWorkspaces(path.join(folder.path, "builds"), volumeMb);
  return {
    path: folder.path,
    workspaces,
    [Symbol.asyncDispose]: async () => {
      await workspaces.clear();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(problem !== null)("a workspace in memory", () => {
  verifies(
    [hazard(18), hazard(50)],
    "the kernel limits files that no process has open and that have no name",
    async () => {
      await using t = await openWorkspaces(32);
      const { sourceDirectory } = await t.workspaces.open("build", 1);
      const options = { ...writableAt(sourceDirectory), limits: { diskMb: 1000, memoryMb: 400 } };
      const { output } = await runIn(new BubblewrapSandbox(), ["perl", "-e", fillInFlight("/work", 100)], options);
      expect(output.toString()).toMatch(/^(held \d+\n)*No space left on device\n$/);
      const held = [...output.toString().matchAll(/held (\d+)/g)].map(([, megabytes]) => Number(megabytes));
      expect(Math.max(0, ...held)).toBeLessThanOrEqual(32);
    },
  );

  test("is unmounted when it is removed, and what a killed service left is removed by clear", async () => {
    await using t = await openWorkspaces(8);
    const removed = await t.workspaces.open("build", 1);
    const left = await t.workspaces.open("build", 2);
    await writeFile(path.join(left.sourceDirectory, "file"), "content");
    await removed.remove();
    expect((await mountsBelow(t.path)).length).toBe(1);
    await new FilesystemTemporaryWorkspaces(path.join(t.path, "builds")).clear();
    expect([await mountsBelow(t.path), existsSync(left.sourceDirectory), await readdir(t.path)]).toEqual([
      [],
      false,
      [],
    ]);
  });
});

describe.skipIf(problem !== null)("a command that writes to a volume", async () => {
  const groups = await openControlGroups();
  afterAll(() => groups[Symbol.asyncDispose]());
  const sandbox = new BubblewrapSandbox({ groups });

  test("may fill it in addition to its memory", async () => {
    await using t = await openWorkspaces(160);
    const { sourceDirectory } = await t.workspaces.open("build", 1);
    const options = { ...writableAt(sourceDirectory), limits: { memoryMb: 64, diskMb: 150 } };
    const { outcome } = await runScript(sandbox, "head -c 120000000 /dev/zero > file", options);
    expect(outcome).toEqual({ reason: "exit", code: 0 });
  });

  test("cannot use the space of the volume as memory", async () => {
    await using t = await openWorkspaces(400);
    const { sourceDirectory } = await t.workspaces.open("build", 1);
    const options = { ...writableAt(sourceDirectory), limits: { memoryMb: 64, diskMb: 400 } };
    const { outcome } = await runIn(sandbox, ["perl", "-e", "my $data = 'x' x 200_000_000; sleep 20"], options);
    expect(outcome).toEqual({ reason: "memory" });
  });
});

test("volumes are not used on a machine with too little memory for all builds", async () => {
  await using folder = await temporaryFolder();
  const needs = { users: "builds", count: 1000, sizeMb: 1_000_000, processMb: 1 } as const;
  const reason = await volumeProblem(folder.path, needs);
  expect(reason).toMatch(/only root can mount|1000 simultaneous builds in memory need a machine with \d+ MiB/);
});

async function mountsBelow(folder: string): Promise<string[]> {
  return (await readFile("/proc/self/mountinfo", "utf8")).split("\n").filter((line) => line.includes(`${folder}/`));
}
