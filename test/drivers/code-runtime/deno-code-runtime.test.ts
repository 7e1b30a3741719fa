import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { childrenOf } from "../../../server/sandbox/process-tree.ts";
import { openDenoRuntime, type TestDenoRuntime } from "../../support/procedures/deno-runtime.ts";
import { runProgram } from "../../support/procedures/run-program.ts";
import { waitFor } from "../../support/time-limits.ts";

const shared = await openDenoRuntime();
afterAll(() => shared[Symbol.asyncDispose]());
const run = runProgram.bind(null, shared.runtime);

test("a program can import its declarations, as types and as text", async () => {
  const code = `import type { Order } from "./service.d.ts";
    import declarations from "./service.d.ts" with { type: "text" };
    const order: Order = { id: 1 };
    console.log(order.id, declarations)`;
  const declarations = "export interface Order { id: number }";
  expect((await run(code, { declarations })).stdout).toBe(`1 ${declarations}\n`);
});

test("dates, bigints, sets, maps and properties named $type reach the host and come back", async () => {
  const inputs: unknown[] = [];
  const handleCall = async (_name: string, input: unknown) => {
    inputs.push(input);
    return input;
  };
  const code = `
    const at = new Date(5);
    const input = { at, big: 7n, set: new Set([at, "a"]), map: new Map([[{ k: 1 }, [at]]]), own: { $type: "Date", value: 1, at } };
    for (const value of [input, at, 7n, null, "text", [new Set()]]) {
      const output = await service.apps.shop.echo(value);
      console.log(Deno.inspect(output, { depth: 9 }) === Deno.inspect(value, { depth: 9 }));
    }
    console.log((await service.apps.shop.echo()) === null)`;
  expect(await run(code, { handleCall })).toMatchObject({ stdout: "true\n".repeat(7), stderr: "" });
  const at = new Date(5);
  const own = { $type: "Date", value: 1, at };
  expect(inputs[0]).toEqual({ at, big: 7n, set: new Set([at, "a"]), map: new Map([[{ k: 1 }, [at]]]), own });
  expect(inputs.slice(1)).toEqual([at, 7n, null, "text", [new Set()], undefined]);
});

test("the temporary files of a program are bounded", async () => {
  const code = `const cache = await caches.open("x");
    for (let n = 0; n < 100; n++) await cache.put("http://x/" + n, new Response(new Uint8Array(1e6)));
    console.log("filled")`;
  expect(await run(code)).toMatchObject({ stdout: "", exitCode: 1 });
});

test("an internal error of a call is reported to the service", async () => {
  const errors: unknown[] = [];
  await using deno = await openDenoRuntime({ onInternalError: (error, name) => errors.push([name, error]) });
  await runProgram(deno.runtime, "await service.tools.break().catch(() => undefined)");
  expect(errors).toEqual([["tools.break", new Error("secret of the host")]]);
});

test("the stack of an error names only the program's own file", async () => {
  const { stdout } = await run(`console.log(new Error("here").stack); await service.tools.refuse().catch(console.log)`);
  expect(stdout).toContain("at main.ts:1:13");
  expect(stdout).not.toMatch(/file:|\/opt|\/code/);
});

test("a program that breaks its globals harms only itself", async () => {
  const code = `JSON.parse = () => { throw new Error("broken") };
    Promise.prototype.then = () => { throw new Error("broken") };
    await service.tools.x();`;
  expect((await run(code, { timeoutMs: 1000 })).exitCode).not.toBe(0);
  expect((await run("console.log(1)")).stdout).toBe("1\n");
});

test("programs beyond the concurrency limit wait, and a waiting program can be aborted", async () => {
  await using deno = await openDenoRuntime({ concurrency: 1 });
  let running = 0;
  let maxRunning = 0;
  const handleCall = async () => {
    running += 1;
    maxRunning = Math.max(maxRunning, running);
    await new Promise((resolve) => setTimeout(resolve, 50));
    running -= 1;
  };
  const signal = AbortSignal.timeout(10);
  const runs = [1, 2, 3].map(() => runProgram(deno.runtime, "await service.tools.x()", { handleCall }));
  await expect(runProgram(deno.runtime, "", { signal })).rejects.toThrow("aborted due to timeout");
  expect((await Promise.all(runs)).map((result) => result.exitCode)).toEqual([0, 0, 0]);
  expect(maxRunning).toBe(1);
});

test("an organization has at most three quarters of the programs that run at the same time", async () => {
  await using deno = await openDenoRuntime({ concurrency: 4 });
  const { promise, resolve } = Promise.withResolvers<void>();
  const running: string[] = [];
  const start = (orgId: string) =>
    runProgram(deno.runtime, "await service.tools.x()", {
      orgId,
      handleCall: () => {
        running.push(orgId);
        return promise;
      },
    });
  const own = Array.from({ length: 5 }, () => start("org-1"));
  await expect.poll(() => running.length).toBe(3);
  const other = start("org-2");
  await expect.poll(() => running).toEqual(["org-1", "org-1", "org-1", "org-2"]);
  resolve();
  expect((await Promise.all([...own, other])).map(({ exitCode }) => exitCode)).toEqual(Array(6).fill(0));
});

test("the files of a program on the host are removed after its run", async () => {
  await using deno = await openDenoRuntime();
  const runningPrograms: string[] = [];
  const code = `await service.tools.x(); throw new Error("here")`;
  const handleCall = async () => {
    for (const folder of await deno.listProgramFolders()) {
      // The folder of an idle process has no program.
      if ((await readdir(folder)).includes("main.ts"))
        runningPrograms.push(await readFile(path.join(folder, "main.ts"), "utf8"));
    }
  };
  await runProgram(deno.runtime, code, { handleCall });
  expect(runningPrograms).toContain(code);
  await deno.runtime[Symbol.asyncDispose]();
  await expect(readdir(deno.programsFolder)).rejects.toThrow("ENOENT");
});

/** Waits until the host has this number of program folders. Each idle process has one. */
async function waitForFolders({ listProgramFolders }: TestDenoRuntime, count: number): Promise<void> {
  await waitFor(async () => expect(await listProgramFolders()).toHaveLength(count));
}

test("after a program, two idle processes wait for the next ones and have nothing of an earlier program", async () => {
  await using deno = await openDenoRuntime();
  expect(await deno.listProgramFolders()).toEqual([]);
  await runProgram(deno.runtime, `globalThis.secret = "left"`, { declarations: "declare const secret: string" });
  await waitForFolders(deno, 2);
  const folders = await deno.listProgramFolders();
  for (const folder of folders) expect((await readdir(folder)).filter((name) => name !== "calls.sock")).toEqual([]);
  for (const folder of folders) {
    const { stdout, exitCode } = await runProgram(deno.runtime, `console.log(globalThis.secret)`);
    expect([folder, stdout, exitCode]).toEqual([folder, "undefined\n", 0]);
  }
  for (const folder of folders) expect(await deno.listProgramFolders()).not.toContain(folder);
});

test("an idle process is stopped after its timeout, and the next program gets a new one", async () => {
  await using deno = await openDenoRuntime({ idleTimeoutMs: 50 });
  await runProgram(deno.runtime, "");
  await waitForFolders(deno, 0);
  expect(await runProgram(deno.runtime, "console.log(1)")).toMatchObject({ stdout: "1\n" });
});

test("an idle process that dies is removed, and the next program gets a new one", async () => {
  await using deno = await openDenoRuntime();
  await runProgram(deno.runtime, "");
  await waitForFolders(deno, 2);
  const names = (await deno.listProgramFolders()).map((folder) => path.basename(folder));
  const isIdleProcess = (pid: number) =>
    names.some((name) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(name));
  const hasStarted = (pid: number) => childrenOf(pid).some((child) => childrenOf(child).length > 0);
  const findIdleProcesses = () => childrenOf(process.pid).filter((pid) => isIdleProcess(pid) && hasStarted(pid));
  // A folder exists before its process, and the process before what it starts.
  await waitFor(() => expect(findIdleProcesses()).toHaveLength(2));
  for (const pid of findIdleProcesses()) process.kill(pid, "SIGKILL");
  await waitForFolders(deno, 0);
  expect(await runProgram(deno.runtime, "console.log(1)")).toMatchObject({ stdout: "1\n", exitCode: 0 });
});

test("the idle time of a process does not count as time of its program", async () => {
  await using deno = await openDenoRuntime();
  await runProgram(deno.runtime, "");
  await waitForFolders(deno, 2);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const startedAt = performance.now();
  const { durationMs } = await runProgram(deno.runtime, "");
  expect(durationMs).toBeLessThanOrEqual(Math.ceil(performance.now() - startedAt));
});
