import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { processesIn, removeGroup } from "../../server/sandbox/cgroups/control-group.ts";
import { delegatedGroup } from "../../server/sandbox/cgroups/delegated-group.ts";
import { findOwnGroups, parseOwnGroups } from "../../server/sandbox/cgroups/find-hierarchies.ts";
import { configureGroup, configureKind, V2 } from "../../server/sandbox/cgroups/group-settings.ts";
import { openControlGroups } from "../../server/sandbox/cgroups/open-control-groups.ts";
import { UnconfinedSandbox } from "../../server/sandbox/unconfined-sandbox.ts";
import { fillInFlight } from "../support/sandbox/in-flight-files.ts";
import { processesRunning, runIn, runScript } from "../support/sandbox/sandbox-command.ts";
import { openTestPlatform } from "../support/edge/test-platform.ts";
import { workerdPids } from "../support/edge/app-processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { sandboxContract, uniqueSleepSeconds } from "../contract/sandbox.ts";

const groups = await openControlGroups();
afterAll(() => groups[Symbol.asyncDispose]());

const limitsMemory = groups.controllers.includes("memory");
if (!limitsMemory) process.stderr.write(`SKIPPED: no limits of the kernel on this host, because ${groups.problem}\n`);

/** The groups of a process, as the kernel names them. */
async function groupsOf(pid: number | "self"): Promise<string[]> {
  return (await readFile(`/proc/${pid}/cgroup`, "utf8")).trim().split("\n");
}

describe.skipIf(!limitsMemory)("with control groups of this host,", () => {
  sandboxContract("bubblewrap with control groups", new BubblewrapSandbox({ groups }));
  sandboxContract("unconfined with control groups", new UnconfinedSandbox({ groups }));

  const sandbox = new BubblewrapSandbox({ groups });

  verifies(hazard(50), "files in shared memory count as memory of a command", async () => {
    const script = "head -c 200000000 /dev/zero > /dev/shm/file; echo done";
    const { outcome, output } = await runScript(sandbox, script, { limits: { memoryMb: 64 } });
    expect([outcome, output.toString()]).toEqual([{ reason: "memory" }, ""]);
  });

  verifies(hazard(50), "files that no process has open but are in flight on a socket count as memory", async () => {
    const script = `${fillInFlight("/tmp", 200)} sleep 20;`;
    const limits = { memoryMb: 96, wallTimeMs: 15_000 };
    const { outcome } = await runIn(sandbox, ["perl", "-e", script], { limits });
    expect(outcome).toEqual({ reason: "memory" });
  });

  test("a command that stays below its limit is not affected by it", async () => {
    const { outcome } = await runScript(sandbox, "head -c 30000000 /dev/zero > /tmp/file", {
      limits: { memoryMb: 64 },
    });
    expect(outcome).toEqual({ reason: "exit", code: 0 });
  });

  test("a command is in a group of its own from its start, and the group is removed afterwards", async () => {
    const seconds = uniqueSleepSeconds();
    const abort = new AbortController();
    const running = runIn(sandbox, ["sleep", seconds], { signal: abort.signal });
    await expect.poll(async () => (await processesRunning(["sleep", seconds])).length).toBe(1);
    const [pid = 0] = await processesRunning(["sleep", seconds]);
    const own = (await groupsOf(pid)).filter((line) => /\/sandboxes-[^/]+\/builds\/[^/]+$/.test(line));
    expect(own.length).toBeGreaterThan(0);
    abort.abort();
    await running;
    const folders = Object.values({ ...findOwnGroups().legacy, unified: findOwnGroups().unified });
    const left = folders.filter((folder) => folder !== null).filter((folder) => hasGroup(folder, own));
    expect(left).toEqual([]);
  });

  verifies(hazard(50), "programs and builds give way to the service", async () => {
    for (const kind of ["builds", "programs"] as const) {
      const { output } = await runScript(new BubblewrapSandbox({ groups, kind }), "nice");
      // With a controller for the processor the group has a lower weight; otherwise the commands have a lower priority.
      expect(output.toString()).toBe(groups.controllers.includes("cpu") ? "0\n" : "10\n");
    }
    const shares = kernelFiles(groups.version === "v2" ? "cpu.weight" : "cpu.shares");
    expect(shares).toMatchObject({
      apps: expectedShare(0.5),
      builds: expectedShare(0.1),
      programs: expectedShare(0.1),
    });
  });

  verifies(hazard(50), "an app is in a group with limits on memory and processes", async () => {
    await using t = await openTestPlatform({ groups });
    await t.publish("shop", `export default { fetch: () => new Response("hello") }`);
    const [pid = 0] = await workerdPids(t.root);
    expect((await groupsOf(pid)).join()).toMatch(/\/sandboxes-[^/]+\/apps\//);
  });

  test("groups that a killed service left are removed at the next start, with their processes", async () => {
    const service = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: "ignore" });
    const [folder] = Object.values(findOwnGroups().legacy).filter((own) => own !== null);
    const abandoned = path.join(folder ?? "", `sandboxes-${service.pid}-1-0`, "builds", "one");
    mkdirSync(abandoned, { recursive: true });
    writeFileSync(path.join(abandoned, "cgroup.procs"), String(service.pid));
    const exited = once(service, "exit");
    await using _ = await openControlGroups();
    await exited;
    expect(existsSync(path.join(abandoned, "../.."))).toBe(false);
  });
});

describe("the group of the service", () => {
  const mount = (line: string) => `30 20 0:26 ${line}`;

  test("is found in the single hierarchy of version 2", () => {
    const own = parseOwnGroups(
      "0::/system.slice/apps.service\n",
      mount("/ /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"),
    );
    expect(own.unified).toBe("/sys/fs/cgroup/system.slice/apps.service");
  });

  test("is the mounted folder in a container, whose group is the root that it sees", () => {
    const own = parseOwnGroups("0::/\n", mount("/ /sys/fs/cgroup rw - cgroup2 cgroup rw\n"));
    expect(own.unified).toBe("/sys/fs/cgroup");
    const legacy = parseOwnGroups(
      "4:memory:/docker/1a\n3:cpu,cpuacct:/docker/1a\n",
      mount("/docker/1a /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n") +
        mount("/docker/1a /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"),
    );
    expect(legacy.legacy).toEqual({
      memory: "/sys/fs/cgroup/memory",
      cpu: "/sys/fs/cgroup/cpu,cpuacct",
      pids: null,
    });
  });

  test("is unknown when it is outside the mounted part", () => {
    const own = parseOwnGroups("0::/../other\n", mount("/ /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"));
    expect(own.unified).toBe(null);
  });

  test("is named in the reason when the service may not create groups", async () => {
    await using folder = await temporaryFolder();
    await writeFile(path.join(folder.path, "cgroup.controllers"), "cpu io\n");
    const none = { memory: null, pids: null, cpu: null };
    const opened = await openControlGroups({ unified: folder.path, legacy: none });
    expect([opened.version, opened.controllers, opened.problem]).toEqual([
      null,
      [],
      "version 2 has no memory controller; version 1 has no memory controller",
    ]);
  });
});

// The kernel of this host may have no controllers of version 2, so plain files stand for those of the kernel.
test("a group of version 2 has limits on memory, swap and processes, and ends as a whole at the limit", async () => {
  await using folder = await temporaryFolder();
  const names = ["memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.weight"];
  for (const name of names) await writeFile(path.join(folder.path, name), "");
  const folders = { memory: folder.path, pids: folder.path, cpu: folder.path };
  configureKind(V2, folders, "builds");
  configureGroup(V2, folders, { memoryMb: 64, processes: 100 });
  const values = names.map((name) => readFileSync(path.join(folder.path, name), "utf8"));
  expect(values).toEqual([String(64 * 1024 * 1024), "0", "1", "116", "10"]);
});

describe.skipIf(!canCreateUnified())("in a version 2 group of this host,", () => {
  test("the service moves its processes to a group below, so that it can limit others", async () => {
    const own = createUnified();
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    writeFileSync(path.join(own, "cgroup.procs"), String(child.pid));
    expect(delegatedGroup(own)).toBe(own);
    expect([processesIn(own), processesIn(path.join(own, "service"))]).toEqual([[], [child.pid]]);
    expect(delegatedGroup(path.join(own, "service"))).toBe(own);
    const exited = once(child, "exit");
    await removeGroup(own);
    expect([(await exited)[1], existsSync(own)]).toEqual(["SIGKILL", false]);
  });
});

function canCreateUnified(): boolean {
  try {
    rmdirSync(createUnified());
    return true;
  } catch (error) {
    process.stderr.write(`SKIPPED: version 2 groups cannot be created on this host: ${(error as Error).message}\n`);
    return false;
  }
}

function createUnified(): string {
  const folder = path.join(findOwnGroups().unified ?? "/nowhere", `test-${uniqueSleepSeconds()}`);
  mkdirSync(folder);
  return folder;
}

function hasGroup(folder: string, lines: readonly string[]): boolean {
  return lines.some((line) => existsSync(path.join(folder, /\/(sandboxes-.*)$/.exec(line)?.[1] ?? "")));
}

/** The content of a file of the kernel for each kind of sandbox. */
function kernelFiles(name: string): Record<string, number> {
  const { unified, legacy } = findOwnGroups();
  const parent = groups.version === "v2" ? path.dirname(unified ?? "") : legacy.cpu;
  const root = readdirSync(parent ?? "").find((entry) => entry.startsWith(`sandboxes-${process.pid}-`)) ?? "";
  const read = (kind: string) => Number(readFileSync(path.join(parent ?? "", root, kind, name), "utf8"));
  return Object.fromEntries(["apps", "builds", "programs"].map((kind) => [kind, read(kind)]));
}

function expectedShare(share: number): number {
  return groups.version === "v2" ? 100 * share : Math.round(1024 * share);
}
