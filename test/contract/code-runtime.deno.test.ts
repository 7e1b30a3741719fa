import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { CallSocket } from "../../server/drivers/code-runtime/call-socket.ts";
import { DenoCodeRuntime } from "../../server/drivers/code-runtime/deno.ts";
import { BubblewrapSandbox } from "../../server/drivers/sandbox/bubblewrap.ts";
import { runProgram } from "../support/program-run.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { codeRuntimeContract } from "./code-runtime.ts";

const faults: unknown[] = [];
const runtime = new DenoCodeRuntime({
  sandbox: new BubblewrapSandbox({ temporaryMb: 32 }),
  onFault: (error, name) => faults.push([name, error]),
});
const run = runProgram.bind(null, runtime);

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

test.each(["npm:lodash", "jsr:@std/path", "https://esm.sh/lodash", "lodash", "./other.ts"])(
  "an import of %s is refused, and told what can be imported",
  async (specifier) => {
    const { stderr, exitCode } = await run(`import it from "${specifier}"; console.log(it)`);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Only "zod" and the modules of Node.js (such as "node:crypto") can be imported`);
    expect(stderr).toContain("main.ts:1:16");
    expect(stderr).not.toMatch(/--no-|deno add|nothing/);
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
  const one = new DenoCodeRuntime({ sandbox: new BubblewrapSandbox({ temporaryMb: 32 }), concurrency: 1 });
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
  const mark = randomUUID();
  const holding = () =>
    globSync(path.join(tmpdir(), "program-*/main.ts")).filter((file) => readFileSync(file, "utf8").includes(mark));
  let meanwhile = 0;
  const calls = async () => (meanwhile = holding().length);
  await run(`await service.tools.x(); throw new Error("${mark}")`, { calls });
  expect([meanwhile, holding()]).toEqual([1, []]);
});

/** Writes to the socket as no program does through `service`; gives what comes back until it is closed. */
async function converse(socketPath: string, ...messages: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect(socketPath);
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk.toString()));
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  for (const message of messages) socket.write(message);
  await closed;
  return answer;
}

async function openSocket(folder: string): Promise<{ socket: CallSocket; path: string; answered: string[] }> {
  const answered: string[] = [];
  const handle = async (name: string) => void answered.push(name);
  const socketPath = path.join(folder, "calls.sock");
  const socket = await CallSocket.open(socketPath, { handle, onFault: () => undefined }, () => undefined);
  return { socket, path: socketPath, answered };
}

test.each([
  ["is not JSON", "call me\n"],
  ["is not a call", "[]\n"],
  ["has no number", `{"name":"tools.x"}\n`],
  ["has a name without end", `{"id":1,"name":"${"x".repeat(600)}"}\n`],
  ["is longer than a megabyte", "x".repeat(1_100_000)],
])("a line that %s closes the connection", async (_what, line) => {
  await using folder = await temporaryFolder();
  const { path: socketPath, answered } = await openSocket(folder.path);
  expect([await converse(socketPath, line), answered]).toEqual(["", []]);
});

test("32 MB of calls close the connection", async () => {
  await using folder = await temporaryFolder();
  const { path: socketPath, answered } = await openSocket(folder.path);
  const call = `{"id":1,"name":"tools.x","input":"${"x".repeat(1_000_000)}"}\n`;
  await converse(socketPath, ...Array.from({ length: 40 }, () => call));
  expect(answered.length).toBeGreaterThan(25);
  expect(answered.length).toBeLessThan(34);
});

test("a socket takes one connection", async () => {
  await using folder = await temporaryFolder();
  const { socket, path: socketPath } = await openSocket(folder.path);
  const first = connect(socketPath);
  await once(first, "connect");
  expect(await converse(socketPath, `{"id":1,"name":"tools.y"}\n`)).toBe("");
  first.write(`{"id":1,"name":"tools.x"}\n`);
  const [answer] = (await once(first, "data")) as [Buffer];
  expect(answer.toString()).toBe(`{"id":1,"output":null}\n`);
  socket.close();
  await once(first, "close");
});
