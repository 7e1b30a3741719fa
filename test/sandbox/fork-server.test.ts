import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { ForkServer } from "../../server/sandbox/fork-server/fork-server.ts";
import { isRunning } from "../../server/sandbox/process-tree.ts";
import { startChild, type StartProcess } from "../../server/sandbox/start-process.ts";
import { sandboxContract } from "../contract/sandbox.ts";

const forkServer = new ForkServer();
sandboxContract("bubblewrap, started by the fork server", new BubblewrapSandbox({ startProcess: forkServer.start }));

/** Returns what the kernel says about a process. */
async function statusOf(pid: number, field: string): Promise<string | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return new RegExp(`^${field}:\\s+(\\S+)`, "m").exec(status)?.[1];
}

describe.each<[string, StartProcess]>([
  ["a child of the service", startChild],
  ["the fork server", forkServer.start],
])("a process that is started as %s", (_case, start) => {
  test("has its pipes and inputs, and reports its exit", async () => {
    const script = "read -r line; echo out $line; cat <&3; echo error >&2; exit 7";
    const started = await start({
      argv: ["sh", "-c", script],
      descriptors: 4,
      inputs: new Map([[3, "from the input"]]),
    });
    expect(started.hasExited()).toBe(false);
    started.pipes[0]!.end("line\n");
    expect(await Promise.all([text(started.pipes[1]!), text(started.pipes[2]!), started.exit])).toEqual([
      "out line\nfrom the input",
      "error\n",
      { code: 7, signal: null },
    ]);
    expect(started.pipes[3]).toBeUndefined();
    expect(started.hasExited()).toBe(true);
  });

  test("has the environment of the tools, and none of the service's descriptors", async () => {
    const started = await start({ argv: ["sh", "-c", "env; ls -l /proc/self/fd"], descriptors: 3, inputs: new Map() });
    const output = await text(started.pipes[1]!);
    expect(output).not.toMatch(/^(HOME|VITEST|NODE_\w+)=/m);
    expect(output).toContain("PATH=/usr/sbin:/usr/bin:/sbin:/bin\n");
    expect(output.match(/-> socket:/g)).toHaveLength(3);
  });

  test("can write more than a pipe holds, and waits until it is read", async () => {
    const started = await start({
      argv: ["sh", "-c", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"],
      descriptors: 3,
      inputs: new Map(),
    });
    await sleep(100);
    const [output, errors, exit] = await Promise.all([text(started.pipes[1]!), text(started.pipes[2]!), started.exit]);
    expect([output.length, errors.length, exit]).toEqual([3_000_000, 3_000_000, { code: 0, signal: null }]);
  });

  test("that is killed reports the signal", async () => {
    const started = await start({ argv: ["sleep", "60"], descriptors: 3, inputs: new Map() });
    process.kill(started.pid, "SIGKILL");
    expect(await started.exit).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("is refused when the program does not exist", async () => {
    await expect(start({ argv: ["no-such-program"], descriptors: 3, inputs: new Map() })).rejects.toThrow("ENOENT");
  });
});

describe("the fork server", () => {
  test("starts again when it was killed; its processes are then unobservable, and a process that dies with it is dead", async () => {
    await using own = new ForkServer();
    const argv = ["setpriv", "--pdeathsig", "KILL", "--", "sleep", "60"] as const;
    const started = await own.start({ argv, descriptors: 3, inputs: new Map() });
    process.kill(Number(await statusOf(started.pid, "PPid")), "SIGKILL");
    await expect(started.exit).rejects.toThrow("The process that starts sandboxes has ended.");
    await expect.poll(() => isRunning(started.pid)).toBe(false);
    const next = await own.start({ argv: ["true"], descriptors: 3, inputs: new Map() });
    expect(await next.exit).toEqual({ code: 0, signal: null });
  });

  test("ends when it is disposed, also before it has started", async () => {
    const unused = new ForkServer();
    await unused[Symbol.asyncDispose]();
    const used = new ForkServer();
    const started = await used.start({ argv: ["sleep", "60"], descriptors: 3, inputs: new Map() });
    const parent = Number(await statusOf(started.pid, "PPid"));
    await used[Symbol.asyncDispose]();
    expect(isRunning(parent)).toBe(false);
    process.kill(started.pid, "SIGKILL");
  });
});
