import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { DenoCodeRuntime, type DenoOptions } from "../../../server/drivers/code-runtime/deno-code-runtime.ts";
import { Modules } from "../../../server/drivers/code-runtime/importable-modules.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { childrenOf } from "../../../server/sandbox/process-tree.ts";
import { runProgram } from "../../support/procedures/run-program.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { codeRuntimeContract } from "../../contract/code-runtime.ts";

const IMPORT_MAP = path.resolve(import.meta.dirname, "../../../server/drivers/code-runtime/inside/import-map.json");
const faults: unknown[] = [];
const opened = new AsyncDisposableStack();
afterAll(() => opened.disposeAsync());
const modulesFolder = path.join(opened.use(await temporaryFolder()).path, "modules");
const { runtime } = await open({ onFault: (error, name) => faults.push([name, error]) });
const run = runProgram.bind(null, runtime);

/** A runtime with folders of its own, and how many folders of programs there are. */
async function open(
  options: Partial<DenoOptions> = {},
): Promise<{ runtime: DenoCodeRuntime; programs: () => Promise<string[]> }> {
  const folder = opened.use(await temporaryFolder());
  const programsFolder = path.join(folder.path, "programs");
  await mkdir(programsFolder);
  const sandbox = new BubblewrapSandbox({ temporaryMb: 32 });
  const runtime = new DenoCodeRuntime({ sandbox, programsFolder, modulesFolder, ...options });
  opened.use(runtime);
  const programs = async () => (await readdir(programsFolder)).map((name) => path.join(programsFolder, name));
  return { runtime, programs };
}

codeRuntimeContract("Deno", runtime);

/** What each expression is refused with, by a line of its own. */
function attemptsAt(expressions: readonly string[]): string {
  const attempts = expressions.map((expression) => `async () => ${expression}`).join(",\n");
  return `for (const attempt of [${attempts}])
    try { console.log("done", String(attempt), await attempt()) } catch (error) { console.log(error.name) }`;
}

test("a program has no right to files, network, environment, system, libraries or processes", async () => {
  const expressions = [
    `Deno.readTextFile("/etc/passwd")`,
    `Deno.readTextFile("/code/main.ts")`,
    `Deno.readDir("/")[Symbol.asyncIterator]().next()`,
    `Deno.writeTextFile("/tmp/x", "x")`,
    `Deno.env.get("PATH")`,
    `Deno.hostname()`,
    `Deno.networkInterfaces()`,
    `Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {})`,
    `Deno.kill(1)`,
    `Deno.listen({ port: 0 })`,
    `Deno.connect({ transport: "unix", path: "/run/calls.sock" })`,
    `(await import("node:fs")).readFileSync("/etc/passwd")`,
    `(await import("node:os")).cpus()`,
  ];
  const { stdout } = await run(attemptsAt(expressions));
  expect(stdout).toBe("NotCapable\n".repeat(expressions.length));
});

test("a program cannot ask for a right", async () => {
  const names = `["read", "write", "net", "env", "sys", "run", "ffi", "import"]`;
  const code = `console.log(...${names}.map((name) => Deno.permissions.requestSync({ name }).state))`;
  expect((await run(code)).stdout).toBe(`${Array(8).fill("denied").join(" ")}\n`);
});

test("a program reaches no server, on the host or beyond", async () => {
  const server = createServer((_request, response) => response.end("reached")).listen(0, "0.0.0.0");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const urls = [`http://127.0.0.1:${port}`, "http://169.254.169.254", "https://example.com"];
  const { stdout } = await run(attemptsAt(urls.map((url) => `(await fetch("${url}")).text()`)));
  server.close();
  expect(stdout).toBe("NotCapable\n".repeat(urls.length));
});

test("an import of a file yields nothing, of the host or of the sandbox, however it is written", async () => {
  await using folder = await temporaryFolder();
  await writeFile(path.join(folder.path, "secret.json"), `"of the host"`);
  const imports = [
    [path.join(folder.path, "secret.json"), "json"],
    ["file:///etc/passwd", "text"],
    ["file://localhost/etc/passwd", "text"],
    ["../etc/passwd", "text"],
    ["/proc/self/environ", "text"],
    ["file:///proc/self/mountinfo", "bytes"],
    ["file:///opt/modules/zod/..%2f..%2f..%2fetc/passwd", "text"],
    ["data:text/javascript,export { default } from 'file:///etc/passwd' with { type: 'text' }", undefined],
  ] as const;
  for (const [specifier, type] of imports) {
    const attributes = type ? ` with { type: "${type}" }` : "";
    const code = `import found from ${JSON.stringify(specifier)}${attributes}; console.log(found)`;
    const { stdout, stderr, exitCode } = await run(code);
    expect([specifier, stdout, exitCode]).toEqual([specifier, "", 1]);
    expect(stderr).not.toMatch(/root:|of the host/);
  }
});

// The runtime knows some hosts that it would import from, and refuses all others in words of its own.
const KNOWN_AND_NOT = ["https://esm.sh/lodash", "https://example.com/it.ts"];
test.each(["npm:lodash", "jsr:@std/path", ...KNOWN_AND_NOT, "lodash", "./other.ts"])(
  "an import of %s is refused, and told what can be imported",
  async (specifier) => {
    const { stderr, exitCode } = await run(`import it from "${specifier}"; console.log(it)`);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Only "zod" and the modules of Node.js (such as "node:crypto") can be imported`);
    expect(stderr).toContain("main.ts:1:16");
    expect(stderr).not.toMatch(/--(no|allow)-|deno add|nothing/);
  },
);

test("zod and what of Node.js needs no rights can be imported offline", async () => {
  const code = `import { z } from "zod";
    import * as mini from "zod/mini";
    import { createHash } from "node:crypto";
    import { Buffer } from "node:buffer";
    console.log(z.object({ n: z.number() }).parse({ n: 1 }).n, mini.parse(mini.string(), "x"));
    console.log(createHash("md5").update(Buffer.from("")).digest("hex"));`;
  expect((await run(code)).stdout).toBe("1 x\nd41d8cd98f00b204e9800998ecf8427e\n");
});

test("all of zod that can be imported is of one piece, and version 3 beside it", async () => {
  const { imports } = JSON.parse(await readFile(IMPORT_MAP, "utf8")) as { imports: Record<string, string> };
  const names = Object.keys(imports).filter((name) => name.startsWith("zod"));
  const code = `${names.map((name, at) => `import * as m${at} from "${name}";`).join(" ")}
    const found = { ${names.map((name, at) => `"${name}": m${at}`).join(", ")} };
    const { "zod": zod, "zod/v3": v3, "zod/v4/core": core, "zod/mini": mini, "zod/locales": locales } = found;
    console.log(Object.values(found).every((module) => Object.keys(module).length > 20));
    console.log(zod.default.string().parse("x"), v3.z.string().parse("y"), zod.core.globalRegistry === core.globalRegistry);
    console.log(zod.toJSONSchema(mini.number()).type, found["zod/v4"].z === zod.z, zod.locales.de === locales.de);
    console.log(zod.object({ a: zod.number() }).safeParse({ a: "b" }).error.issues[0].path, zod.enum(["a"]).options);
    zod.number().parse("no");`;
  const { stdout, stderr, exitCode } = await run(code);
  expect(stdout).toBe(`true\nx y true\nnumber true true\n[ "a" ] [ "a" ]\n`);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("expected number, received string")]);
  expect(stderr).toContain("at main.ts:8:");
  expect(stderr).not.toMatch(/file:|ext:|\/opt|eval/);
});

test("what can be imported is made once, and found by whoever comes later", async () => {
  const made = await new Modules(modulesFolder).ready();
  const { ino } = await stat(path.join(made, "zod-4.txt"));
  const later = await new Modules(modulesFolder).ready();
  expect([later, (await stat(path.join(later, "zod-4.txt"))).ino]).toEqual([made, ino]);
  expect(await readdir(modulesFolder)).toEqual([path.basename(made)]);
});

test("the declarations can be imported, as types and as text", async () => {
  const code = `import type { Order } from "./service.d.ts";
    import declarations from "./service.d.ts" with { type: "text" };
    const order: Order = { id: 1 };
    console.log(order.id, declarations)`;
  const declarations = "export interface Order { id: number }";
  expect((await run(code, { declarations })).stdout).toBe(`1 ${declarations}\n`);
});

test("a program's scratch space ends where it was said to", async () => {
  const code = `const cache = await caches.open("x");
    for (let n = 0; n < 100; n++) await cache.put("http://x/" + n, new Response(new Uint8Array(1e6)));
    console.log("filled")`;
  expect(await run(code)).toMatchObject({ stdout: "", exitCode: 1 });
});

test("a fault of a call is told to the service", async () => {
  faults.length = 0;
  await run("await service.tools.break().catch(() => undefined)");
  expect(faults).toEqual([["tools.break", new Error("secret of the host")]]);
});

test("what a program reads of its stack names no file but its own", async () => {
  const { stdout } = await run(`console.log(new Error("here").stack); await service.tools.refuse().catch(console.log)`);
  expect(stdout).toContain("at main.ts:1:13");
  expect(stdout).not.toMatch(/file:|\/opt|\/code/);
});

test("a program that breaks its own globals harms itself alone", async () => {
  const code = `JSON.parse = () => { throw new Error("broken") };
    Promise.prototype.then = () => { throw new Error("broken") };
    await service.tools.x();`;
  expect((await run(code, { timeoutMs: 1000 })).exitCode).not.toBe(0);
  expect((await run("console.log(1)")).stdout).toBe("1\n");
});

test("programs wait for their turn when as many as may be are running", async () => {
  const { runtime: one } = await open({ concurrency: 1 });
  let [running, most] = [0, 0];
  const calls = async () => {
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    running -= 1;
  };
  const gaveUp = AbortSignal.timeout(10);
  const runs = [1, 2, 3].map(() => runProgram(one, "await service.tools.x()", { calls }));
  await expect(runProgram(one, "", { signal: gaveUp })).rejects.toThrow("aborted due to timeout");
  expect((await Promise.all(runs)).map((result) => result.exitCode)).toEqual([0, 0, 0]);
  expect(most).toBe(1);
});

test("a run leaves none of its files on the host", async () => {
  const { runtime: one, programs: held } = await open();
  const meanwhile: string[] = [];
  const code = `await service.tools.x(); throw new Error("here")`;
  const calls = async () => {
    for (const folder of await held()) meanwhile.push(await readFile(path.join(folder, "main.ts"), "utf8"));
  };
  await runProgram(one, code, { calls });
  expect(meanwhile).toContain(code);
  await one[Symbol.asyncDispose]();
  await expect(held()).rejects.toThrow("ENOENT");
});

/** Looks again and again, for a bounded time, until there are so many folders. */
async function untilThere(programs: () => Promise<string[]>, count: number): Promise<void> {
  for (const deadline = Date.now() + 20_000; (await programs()).length !== count;) {
    if (Date.now() > deadline) throw new Error(`there are ${(await programs()).length} folders, and not ${count}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("after a program, two more sandboxes wait for the next ones, and have nothing of any program", async () => {
  const { runtime: one, programs: waiting } = await open();
  expect(await waiting()).toEqual([]);
  await runProgram(one, `globalThis.secret = "left"`, { declarations: "declare const secret: string" });
  await untilThere(waiting, 2);
  const folders = await waiting();
  for (const folder of folders)
    for (const file of ["main.ts", "service.d.ts"]) expect(await readFile(path.join(folder, file), "utf8")).toBe("");
  for (const folder of folders) {
    const { stdout, exitCode } = await runProgram(one, `console.log(globalThis.secret)`);
    expect([folder, stdout, exitCode]).toEqual([folder, "undefined\n", 0]);
  }
  for (const folder of folders) expect(await waiting()).not.toContain(folder);
});

test("a sandbox that waits in vain ends, and the next program gets another", async () => {
  const { runtime: one, programs: waiting } = await open({ waitingMs: 50 });
  await runProgram(one, "");
  await untilThere(waiting, 0);
  expect(await runProgram(one, "console.log(1)")).toMatchObject({ stdout: "1\n" });
});

test("a sandbox that dies while it waits is cleared away, and the next program gets another", async () => {
  const { runtime: one, programs: waiting } = await open();
  await runProgram(one, "");
  await untilThere(waiting, 2);
  const folders = await waiting();
  const isOne = (pid: number) =>
    folders.some((folder) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder));
  for (const pid of childrenOf(process.pid).filter(isOne)) process.kill(pid, "SIGKILL");
  await untilThere(waiting, 0);
  expect(await runProgram(one, "console.log(1)")).toMatchObject({ stdout: "1\n", exitCode: 0 });
});

test("the time that a sandbox waited is no time of its program", async () => {
  const { runtime: one, programs: waiting } = await open();
  await runProgram(one, "");
  await untilThere(waiting, 2);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const asked = performance.now();
  const { durationMs } = await runProgram(one, "");
  expect(durationMs).toBeLessThanOrEqual(Math.ceil(performance.now() - asked));
});
