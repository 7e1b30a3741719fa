import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { sendWholeBody } from "../support/clients/send-whole-body.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();

/** Sends bytes that no HTTP client would send, and returns the whole response. */
async function sendBytes(bytes: string): Promise<string> {
  const { hostname, port } = new URL(service().service.publicUrl);
  const socket = connect(Number(port), hostname);
  socket.end(bytes);
  return text(socket);
}

/** Returns the errors in the log, after a request that is handled later than all requests before it. */
async function loggedErrors(): Promise<string[]> {
  await fetch(`${service().service.publicUrl}/healthz`);
  const lines = service().logged().split("\n").filter(Boolean);
  return lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
}

const REQUESTS = [
  "GET /v1/apps",
  "POST /v1/apps/deploy",
  "GET /trpc/apps.list",
  "POST /mcp",
  "POST /api/auth/sign-in/email",
];

test("a client that disconnects right after its request causes no error in the log", async () => {
  const tenant = await service().tenant();
  const { hostname, port } = new URL(service().service.publicUrl);
  for (const line of REQUESTS)
    for (const token of [tenant.api_key, tenant.personal_access_token, `svk_${"x".repeat(40)}`])
      for (const body of ["", "{}"]) {
        const headers = `Host: ${hostname}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
        const bytes = `${line} HTTP/1.1\r\n${headers}Content-Length: 2\r\n\r\n${body}`;
        const sockets = Array.from({ length: 5 }, () => connect(Number(port), hostname));
        for (const socket of sockets)
          socket
            .on("error", () => undefined)
            .once("connect", () => socket.write(bytes, () => socket.resetAndDestroy()));
        await Promise.all(sockets.map((socket) => once(socket, "close")));
      }
  expect(await loggedErrors()).toEqual([]);
});

test("400 is the response to an invalid Host header, and 405 to TRACE, of typed RPC", async () => {
  const hosts = ["a b", "[", "x:99999", "a/b", "a@b:c"];
  for (const host of hosts)
    expect(await sendBytes(`GET /trpc/apps.list HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 [^]*\r\n\r\n\{"error":"The Host header or the URL is invalid\."\}$/,
    );
  for (const method of ["TRACE", "PUT", "DELETE", "PATCH", "OPTIONS"])
    expect(await sendBytes(`${method} /trpc/apps.list HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 405 [^]*\r\nallow: GET, HEAD, POST\r\n[^]*\{"error":/,
    );
  expect(await loggedErrors()).toEqual([]);
});

verifies(hazard(66), "400 is the response to two Host headers and to an empty one, on every API", async () => {
  const tenant = await service().tenant();
  const { host } = new URL(service().service.publicUrl);
  const hosts = [
    `Host: ${host}\r\nHost: ${host}`,
    `Host: ${host}\r\nhost: elsewhere.example.com`,
    "Host:",
    `Host:\r\nHost: ${host}`,
  ];
  const targets = ["/v1/apps", "/mcp", "/trpc/apps.list", "/healthz", "/api/auth/get-session", "/v1/nothing", "/"];
  const send = (target: string, lines: string) =>
    sendBytes(
      `GET ${target} HTTP/1.1\r\n${lines}\r\nAuthorization: Bearer ${tenant.api_key}\r\nConnection: close\r\n\r\n`,
    );
  for (const target of targets)
    for (const lines of hosts)
      expect([target, lines, await send(target, lines)]).toEqual([
        target,
        lines,
        expect.stringMatching(/^HTTP\/1\.1 400 [^]*exactly one Host header/),
      ]);
  expect(await send("/healthz", `Host: ${host}`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await sendBytes("GET /healthz HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /);
});

const SENDER = fileURLToPath(new URL("../support/clients/post-large-bodies.ts", import.meta.url));

/** Posts bodies of 5 MB from another process, because a client in this process would wait for the server. */
async function postLargeBodies(path: string, headers: Record<string, string>): Promise<unknown> {
  const url = `${service().service.publicUrl}${path}`;
  const { stdout } = await promisify(execFile)(process.execPath, [SENDER, url, JSON.stringify(headers)]);
  return JSON.parse(stdout);
}

const ALL_413 = Array.from({ length: 20 }, () => 413);
const PATHS = ["/mcp", "/v1/tokens", "/trpc/tokens.issue", "/api/auth/sign-in/email"];

test.each(PATHS)("a client reads 413 to a body of 5 MB for %s", async (path) => {
  const { api_key: apiKey, personal_access_token: personal } = await service().tenant();
  const authorization = `Bearer ${path === "/mcp" ? personal : apiKey}`;
  expect(await postLargeBodies(path, { authorization })).toEqual(ALL_413);
});

test("a client reads 401 to a body of 5 MB without a token, and 404 to one for an unknown URL", async () => {
  expect(await postLargeBodies("/mcp", {})).toEqual(ALL_413.map(() => 401));
  expect(await postLargeBodies("/nowhere", {})).toEqual(ALL_413.map(() => 404));
});

test("a client that sends its whole body first reads a response that was sent before", async () => {
  const { port } = new URL(service().service.publicUrl);
  const response = await sendWholeBody(Number(port), "/mcp", "Host: localhost\r\nContent-Type: application/json");
  expect(response).toMatch(/^HTTP\/1\.1 401 /);
});
