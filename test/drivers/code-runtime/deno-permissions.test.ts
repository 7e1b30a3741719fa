import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDenoRuntime } from "../../support/procedures/deno-runtime.ts";
import { runProgram } from "../../support/procedures/run-program.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const deno = await openDenoRuntime();
afterAll(() => deno[Symbol.asyncDispose]());
const run = runProgram.bind(null, deno.runtime);

/** A program that evaluates each expression and prints the name of the error that it throws, on a line of its own. */
function createAttempts(expressions: readonly string[]): string {
  const attempts = expressions.map((expression) => `async () => ${expression}`).join(",\n");
  return `for (const attempt of [${attempts}])
    try { console.log("done", String(attempt), await attempt()) } catch (error) { console.log(error.name) }`;
}

test("a program has no permission for files, network, environment, system, libraries or processes", async () => {
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
    `Deno.connect({ transport: "unix", path: "/code/calls.sock" })`,
    `(await import("node:fs")).readFileSync("/etc/passwd")`,
    `(await import("node:os")).cpus()`,
  ];
  const { stdout } = await run(createAttempts(expressions));
  expect(stdout).toBe("NotCapable\n".repeat(expressions.length));
});

test("a program cannot request a permission", async () => {
  const names = `["read", "write", "net", "env", "sys", "run", "ffi", "import"]`;
  const code = `console.log(...${names}.map((name) => Deno.permissions.requestSync({ name }).state))`;
  expect((await run(code)).stdout).toBe(`${Array(8).fill("denied").join(" ")}\n`);
});

test("a program cannot connect to a server on the host, on the network or on the internet", async () => {
  const server = createServer((_request, response) => response.end("reached")).listen(0, "0.0.0.0");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const urls = [`http://127.0.0.1:${port}`, "http://169.254.169.254", "https://example.com"];
  const { stdout } = await run(createAttempts(urls.map((url) => `(await fetch("${url}")).text()`)));
  server.close();
  expect(stdout).toBe("NotCapable\n".repeat(urls.length));
});

test("no file of the host or the sandbox can be imported, in any notation", async () => {
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
    const code = `import content from ${JSON.stringify(specifier)}${attributes}; console.log(content)`;
    const { stdout, stderr, exitCode } = await run(code);
    expect([specifier, stdout, exitCode]).toEqual([specifier, "", 1]);
    expect(stderr).not.toMatch(/root:|of the host/);
  }
});

// Deno has a list of hosts from which imports are allowed by default. Other hosts get another error message.
const LISTED_AND_UNLISTED_HOSTS = ["https://esm.sh/lodash", "https://example.com/it.ts"];
test.each(["npm:lodash", "jsr:@std/path", ...LISTED_AND_UNLISTED_HOSTS, "lodash", "./other.ts"])(
  "an import of %s fails, and a hint says what can be imported",
  async (specifier) => {
    const { stderr, exitCode } = await run(`import it from "${specifier}"; console.log(it)`);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `Only "zod", the modules of Node.js (such as "node:crypto") and files in /workspace can be imported`,
    );
    expect(stderr).toContain("main.ts:1:16");
    expect(stderr).not.toMatch(/--(no|allow)-|deno add|nothing/);
  },
);
