import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Mount } from "../../server/ports/sandbox.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { childrenOf } from "../../server/sandbox/process-tree.ts";
import { startChild } from "../../server/sandbox/start-process.ts";
import { sandboxContract, uniqueSleepSeconds } from "../contract/sandbox.ts";
import { killDuringSleep } from "../support/sandbox/killed-service.ts";
import { processesRunning, processesWith, runIn, runScript } from "../support/sandbox/sandbox-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** Opens a folder with a folder for each command, which contains its own name in a file. */
async function openFolders() {
  const temporary = await temporaryFolder();
  const parent = path.join(temporary.path, "parent");
  const openFolder = async (name: string): Promise<Mount[]> => {
    await mkdir(parent, { recursive: true });
    await chmod(parent, 0o711);
    const folder = path.join(parent, name);
    await mkdir(folder);
    await writeFile(path.join(folder, "name"), name);
    return [{ from: folder, to: "/own", writable: false }];
  };
  return { ...temporary, path: parent, openFolder };
}

/** Opens a sandbox, and finds the processes that hold its prepared files. */
function openSandbox() {
  const others = childrenOf(process.pid);
  const sandbox = new BubblewrapSandbox({ prepareFiles: true });
  const holders = () => childrenOf(process.pid).filter((pid) => !others.includes(pid));
  return { sandbox, holders, [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose]() };
}

const contractSandbox = new BubblewrapSandbox({ prepareFiles: true });
afterAll(() => contractSandbox[Symbol.asyncDispose]());

describe.skipIf(process.getuid?.() !== 0)("as root, which alone can enter prepared files", () => {
  sandboxContract("bubblewrap with prepared files", contractSandbox);

  test("a command whose process is killed from outside, at any moment of its start, ends and leaves nothing", async () => {
    let delayMs = 0;
    await using sandbox = new BubblewrapSandbox({
      prepareFiles: true,
      async startProcess(request) {
        const started = await startChild(request);
        if (request.argv.includes("bwrap"))
          setTimeout(() => !started.hasExited() && process.kill(started.pid, 9), delayMs);
        return started;
      },
    });
    const seconds = uniqueSleepSeconds();
    for (; delayMs < 20; delayMs += 2) {
      const run = runIn(sandbox, ["sleep", seconds], { onErrorOutput: () => undefined });
      await expect(run).rejects.toThrow("killed from outside");
      expect(await processesWith(seconds)).toEqual([]);
    }
  });

  verifies(hazard(49), "a command sees its own folder, and neither those of others nor their parent", async () => {
    await using folders = await openFolders();
    await using opened = openSandbox();
    const mounts = await folders.openFolder("one");
    await folders.openFolder("two");
    const script = "cat /own/name; echo; ls -A /own /tmp; ls /tmp/own; touch /own/x /usr/x /x";
    const lines = (await runScript(opened.sandbox, script, { mounts })).output.toString().split("\n");
    expect(lines.slice(0, 6)).toEqual(["one", "/own:", "name", "", "/tmp:", "home"]);
    expect(lines.slice(6, 10)).toEqual([
      expect.stringContaining("No such file"),
      ...["/own/x", "/usr/x", "/x"].map((file) => expect.stringMatching(`'${file}'.*Read-only file system`)),
    ]);
    expect(opened.holders()).toHaveLength(1);
  });

  test("all commands with the same shared mounts use one process that holds the files, until the sandbox is disposed", async () => {
    await using folders = await openFolders();
    await using opened = openSandbox();
    const mounts = await Promise.all(["one", "two", "three"].map(folders.openFolder));
    const run = async (own: Mount[]) => (await runIn(opened.sandbox, ["cat", "/own/name"], { mounts: own })).output;
    expect((await Promise.all(mounts.map(run))).join(" ")).toBe("one two three");
    expect(opened.holders()).toHaveLength(1);
    await opened.sandbox[Symbol.asyncDispose]();
    expect(opened.holders()).toEqual([]);
  });

  test("when the folder of own mounts was replaced, later commands see the new one, and running ones continue", async () => {
    await using folders = await openFolders();
    await using opened = openSandbox();
    const running = runScript(opened.sandbox, "while [ ! -e /own/end ]; do sleep 0.05; done; cat /own/name", {
      mounts: await folders.openFolder("early"),
    });
    await expect.poll(() => opened.holders().length).toBe(2);
    await rename(folders.path, `${folders.path}-replaced`);
    const mounts = await folders.openFolder("late");
    expect((await runIn(opened.sandbox, ["cat", "/own/name"], { mounts })).output.toString()).toBe("late");
    await writeFile(path.join(`${folders.path}-replaced`, "early", "end"), "");
    expect((await running).output.toString()).toBe("early");
    await expect.poll(() => opened.holders().length).toBe(1);
  });

  test("when the process that holds the files dies, its commands end, and the next command gets another one", async () => {
    await using folders = await openFolders();
    await using opened = openSandbox();
    const mounts = await folders.openFolder("one");
    await runIn(opened.sandbox, ["true"], { mounts });
    const [holder = 0] = opened.holders();
    const seconds = uniqueSleepSeconds();
    const running = runIn(opened.sandbox, ["sleep", seconds], { mounts });
    await expect.poll(async () => (await processesRunning(["sleep", seconds])).length).toBeGreaterThan(0);
    process.kill(holder, "SIGKILL");
    await expect(running).rejects.toThrow("The sandbox was killed from outside");
    expect(await processesWith(seconds)).toEqual([]);
    expect((await runIn(opened.sandbox, ["cat", "/own/name"], { mounts })).output.toString()).toBe("one");
  });

  verifies(
    [hazard(41), hazard(46)],
    "no process that holds files, and no command, survives a killed service",
    async () => {
      await using folders = await openFolders();
      const [{ from: folder } = { from: "" }] = await folders.openFolder("one");
      const seconds = uniqueSleepSeconds();
      await killDuringSleep(seconds, folder);
      await expect.poll(() => processesWith(seconds)).toEqual([]);
      await expect.poll(() => processesWith(folders.path)).toEqual([]);
    },
  );
});
