import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { bucketOf } from "../../../server/drivers/agent-workspaces/archive-place.ts";
import { FilesystemObjectStore } from "../../../server/drivers/object-store/filesystem.ts";
import { openTestWorkspaces } from "../../support/agents/test-workspaces.ts";
import { PROJECT } from "../../support/service/service-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** How many changes are saved before the process is killed. */
const KILLS = [1, 4, 9];

test("a process that is killed while it saves loses no acknowledged change, and leaves no half of one", async () => {
  await using folder = await temporaryFolder();
  const root = path.join(folder.path, "objects");
  const objects = new FilesystemObjectStore(root);
  await using store = await openTestWorkspaces({ objects });
  const id = { orgId: randomUUID(), agentId: randomUUID() };
  const readNumber = async (name: string) => {
    const part = await store.workspaces.readFile(id, name, { offset: 0, length: 10_000_000 });
    const numbers = new Set(
      Buffer.from(part?.bytes ?? [])
        .toString()
        .trim()
        .split(" "),
    );
    expect(numbers.size).toBe(1);
    return Number([...numbers][0]);
  };
  let acknowledged = 0;
  for (const changes of KILLS) {
    const args = [store.databaseUrl, root, id.orgId, id.agentId, String(acknowledged + 1)];
    const child = spawn(process.execPath, ["test/support/agents/saving-process.ts", ...args], {
      cwd: PROJECT,
      env: { ...process.env, TMPDIR: folder.path },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    const target = acknowledged + changes;
    for await (const line of createInterface(child.stdout)) {
      acknowledged = Number(line);
      // What it prints after the signal was saved before it.
      if (acknowledged >= target) child.kill("SIGKILL");
    }
    expect((await ended)[1]).toBe("SIGKILL");
    const saved = await readNumber("one");
    expect([acknowledged, acknowledged + 1]).toContain(saved);
    expect(await readNumber("two")).toBe(saved);
    acknowledged = saved;
  }
  await store.records.releaseAll();
  expect(await store.workspaces.clear(id, "one")).toBe(1);
  expect(await objects.list(bucketOf(id))).toHaveLength(1);
});
