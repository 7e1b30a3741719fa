import { openSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import { startLoopbackServer } from "../support/loopback-server.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let cli: TestCli;

beforeAll(async () => {
  tenant = await service().tenant();
  cli = await createCli({ SVC_URL: service().service.publicUrl, SVC_TOKEN: tenant.api_key });
});
afterAll(() => cli[Symbol.asyncDispose]());

const ONE_LINE = /^error: [^\n]+\n$/;

/** Runs a command that fails with one line, and returns the exit code with that line. */
async function failureOf(args: string[], env: Record<string, string> = {}): Promise<[number | null, string]> {
  const { code, stdout, stderr } = await cli.run(args, { env });
  expect([args, stdout]).toEqual([args, ""]);
  expect(stderr).toMatch(ONE_LINE);
  expect(stderr).not.toMatch(/\n? +at |node:internal/);
  return [code, stderr];
}

test("a service that cannot be reached is one line with the URL and the exit code 1", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.close();
  await once(server, "close");
  expect(await failureOf(["apps", "list"], { SVC_URL: url })).toEqual([
    1,
    expect.stringContaining(`Cannot reach ${url}`),
  ]);
  expect(await failureOf(["login", "--service", url])).toEqual([1, expect.stringContaining(`Cannot reach ${url}`)]);
  const host = await failureOf(["apps", "list"], { SVC_URL: "http://nowhere.invalid" });
  expect(host).toEqual([1, expect.stringContaining("http://nowhere.invalid")]);
});

test("a text that is not a URL is wrong usage", async () => {
  for (const url of ["apps.example.com", "ftp://apps.example.com", "http://"])
    expect(await failureOf(["apps", "list", "--service", url])).toEqual([2, expect.stringContaining(`"${url}"`)]);
});

test("the page of a proxy and another service are one line that says to check the URL", async () => {
  const server = createServer((_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in to the network</html>"),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(await failureOf(["apps", "list"], { SVC_URL: url })).toEqual([1, expect.stringContaining("Check the URL")]);
    expect(await failureOf(["login"], { SVC_URL: url })).toEqual([1, expect.stringContaining("Check the URL")]);
  } finally {
    server.close();
  }
});

test("a broken configuration file is one line that names the file, and is not overwritten", async () => {
  for (const content of ["{", "[]", "null", '{"services":[]}', '{"services":{"http://x":1}}', ""]) {
    await cli.writeConfig(content);
    const line = expect.stringContaining(`${cli.configFile} is not a valid configuration`);
    expect(await failureOf(["apps", "list"], { SVC_TOKEN: "", SVC_URL: "" })).toEqual([1, line]);
    expect(await failureOf(["login"])).toEqual([1, line]);
    expect((await cli.readConfig()).text).toBe(content);
  }
  // With variables for everything, the file is not needed.
  expect((await cli.run(["apps", "list"])).code).toBe(0);
});

test("a configuration folder that cannot be written is one line with an alternative, before the user signs in", async () => {
  const file = path.join(cli.folder, "file");
  await writeFile(file, "");
  expect(await failureOf(["login"], { XDG_CONFIG_HOME: path.join(file, "config") })).toEqual([
    1,
    expect.stringMatching(/Cannot write .*: a part of the path is not a folder.*XDG_CONFIG_HOME.*SVC_TOKEN/),
  ]);
});

test("a read-only home is one line for login, and no problem for other commands", async () => {
  // The file system /sys is read-only, or no user may create a folder in it.
  const env = { XDG_CONFIG_HOME: "", HOME: "/sys" };
  expect(await failureOf(["login"], env)).toEqual([
    1,
    expect.stringMatching(/Cannot write \/sys\/.*: (permission denied|the file system is read-only)\./),
  ]);
  expect((await cli.run(["apps", "list"], { env })).code).toBe(0);
});

/** Runs a command whose standard output is on a full disk, and returns the exit code with standard error. */
async function runWithoutRoom(args: string[], env: Record<string, string> = {}): Promise<[unknown, string]> {
  const child = spawn(process.execPath, [path.join(cli.folder, "svc.js"), ...args], {
    env: { ...cli.env, ...env },
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
  });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += String(chunk);
  });
  const [code] = await once(child, "close");
  return [code, stderr];
}

const FULL = "error: The disk is full. Free some space, then try again.\n";

test("data that does not fit on the disk is one line and the exit code 1, also for the help and the version", async () => {
  for (const args of [
    ["apps", "list", "--json"],
    ["--help"],
    ["apps", "--help"],
    ["--version"],
    ["completion", "bash"],
  ])
    expect([args, ...(await runWithoutRoom(args))]).toEqual([args, 1, FULL]);
});

test("a command that follows a log ends when its output does not fit on the disk", async () => {
  const entry = JSON.stringify({ time: "2026-11-22T10:00:00.000Z", level: "info", message: "hello" });
  await using server = await startLoopbackServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(`event: message\ndata: ${entry}\n\n`);
  });
  const args = ["apps", "logs", "-f", "--runtime", crypto.randomUUID()];
  expect(await runWithoutRoom(args, { SVC_URL: server.url })).toEqual([1, FULL]);
});

test("a followed build that fails ends with one line that has the error and the next step, and the exit code 1", async () => {
  const end = { status: "failed", error: "The build has failed.", status_message: "Correct package.json." };
  await using server = await startLoopbackServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: npm error\n\nevent: end\ndata: ${JSON.stringify(end)}\n\n`);
  });
  const followed = await cli.run(["apps", "logs", "-f", crypto.randomUUID()], { env: { SVC_URL: server.url } });
  const stderr = "error: The build has failed. Correct package.json.\n";
  expect(followed).toEqual({ code: 1, stdout: "npm error\n", stderr });
});

test("a closed pipe ends a command without an error", async () => {
  const { child, stderr, ended } = cli.start(["apps", "list", "--json"]);
  child.stdout?.destroy();
  expect([(await ended).code, stderr()]).toEqual([0, ""]);
});

test("wrong usage has the exit code 2 and a hint", async () => {
  const wrong: [string[], RegExp][] = [
    [["aps", "list"], /unknown command 'aps'\n\(Did you mean apps\?\)/],
    [["apps", "get"], /missing required argument 'app'/],
    [["apps", "list", "--jsn"], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [["tokens", "create", "--name", "x"], /The option --kind is missing/],
    [["tokens", "create", "--kind", "other"], /Allowed choices are api_key/],
    [["deployments", "get", "some-app", "one"], /number: must be a number/],
    [["knowledge", "search", "x", "--limit", "y"], /limit: must be a number/],
    [["deploy", "nothing"], /"nothing" is neither a folder nor a repository/],
    [["tokens", "create", "--body", "{"], /--body: must be valid JSON/],
    [["tokens", "create", "--body", "1"], /--body: must be a JSON object/],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await cli.run(args);
    expect([args, code, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toMatch(message);
  }
});

test("--debug adds the stack of an error", async () => {
  const { code, stderr } = await cli.run(["apps", "get", crypto.randomUUID(), "--debug"]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*\n[^]*ServiceError[^]*\n +at /)]);
});
