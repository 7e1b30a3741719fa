import type { RequestListener } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCli, type RunningCli, type TestCli } from "../support/cli/run-cli.ts";
import { startLoopbackServer } from "../support/loopback-server.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let cli: TestCli;

beforeAll(async () => {
  tenant = await service().tenant();
  cli = await createCli({ SVC_URL: service().service.publicUrl, SVC_TOKEN: tenant.personal_access_token });
});
afterAll(() => cli[Symbol.asyncDispose]());

const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a-client", version: "1" } },
};
const LIST_APPS = { method: "tools/call", params: { name: "service_list_apps", arguments: {} } };

interface Response {
  id: string | number | null;
  result?: { [name: string]: unknown };
  error?: { code: number; message: string };
}

function request(id: string | number, message: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, ...message });
}

function parse(stdout: string): Response[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Response);
}

/** Sends lines to `svc mcp`, closes its input, and returns the responses in the order of their ids. */
async function relay(lines: string[], env: Record<string, string> = {}): Promise<Response[]> {
  const { code, stdout } = await cli.run(["mcp"], { input: `${lines.join("\n")}\n`, env });
  expect(code).toBe(0);
  return parse(stdout).toSorted((a, b) => String(a.id).localeCompare(String(b.id)));
}

/** Expects the same error for every request, so that the user of a client sees it whatever the client sends first. */
async function expectFailure(env: Record<string, string>, code: number, message: RegExp): Promise<void> {
  const requests = [INITIALIZE, { method: "tools/list" }, LIST_APPS].map((each, id) => request(id, each));
  const error = { code, message: expect.stringMatching(message) };
  expect(await relay(requests, env)).toEqual([0, 1, 2].map((id) => ({ jsonrpc: "2.0", id, error })));
}

async function withServer(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  await using server = await startLoopbackServer(listener);
  await use(server.url);
}

test("without a token, every request gets an error that says how to sign in", async () => {
  await expectFailure({ SVC_TOKEN: "" }, -32_001, /^You are not signed in to http.* Run: svc login$/);
  const service = "https://apps.example.com";
  const { stdout } = await cli.run(["mcp", "--service", service], {
    input: request(1, LIST_APPS),
    env: { SVC_TOKEN: "" },
  });
  expect(parse(stdout)).toMatchObject([
    { error: { message: `You are not signed in to ${service}. Run: svc login --service ${service}` } },
  ]);
});

test("a sign-in that the gateway rejects is an error that says to sign in again", async () => {
  const credentials = { kind: "oauth", client_id: "c", access_token: "a", refresh_token: "r", expires_at: 2e12 };
  const reject: RequestListener = ({ method }, response) => {
    const tokens = { access_token: "b", expires_in: 900, refresh_token: "s" };
    const error = { jsonrpc: "2.0", id: null, error: { code: -32_001, message: "Invalid token." } };
    const body = method === "GET" ? { token_endpoint: `http://${response.req.headers.host}/token` } : null;
    const isToken = response.req.url === "/token";
    response.writeHead(body !== null || isToken ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? (isToken ? tokens : error)));
  };
  await withServer(reject, async (url) => {
    await cli.writeConfig(JSON.stringify({ services: { [url]: { credentials } } }));
    const env = { SVC_URL: url, SVC_TOKEN: "" };
    await expectFailure(env, -32_001, /does not accept your sign-in for its tools\. Run: svc login --service http:/);
    await cli.writeConfig('{"services":{}}');
  });
});

test("a wrong token is an error that says where to create another one, and does not contain the token", async () => {
  const advice = /Create a personal access token \(svp_…\) at http.*\/settings\/tokens, and set SVC_TOKEN to it/;
  await expectFailure({ SVC_TOKEN: "svp_wrong" }, -32_001, advice);
  await expectFailure({ SVC_TOKEN: tenant.api_key }, -32_001, /^This token is not for tools\. Create a personal/);
  await expectFailure({ SVC_TOKEN: "svp_täst" }, -32_001, /^The token contains characters [^ä]*$/);
});

test("a service that cannot be reached is an error with its URL", async () => {
  let url = "";
  await withServer(
    () => undefined,
    async (free) => void (url = free),
  );
  await expectFailure({ SVC_URL: url }, -32_000, /^Cannot reach http:\/\/127.*refused\. Check that the service runs/);
});

test("the page of a proxy, a redirect and another service are errors that say to check the URL", async () => {
  const page: RequestListener = (_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in to the network</html>");
  await withServer(page, (url) => expectFailure({ SVC_URL: url }, -32_000, /responded with text\/html.*Check the URL/));
  const redirect: RequestListener = (_request, response) => response.writeHead(302, { location: "/login" }).end();
  await withServer(redirect, (url) => expectFailure({ SVC_URL: url }, -32_000, /redirects to \/login\. Use the URL/));
  const other: RequestListener = (_request, response) =>
    response.writeHead(404, { "content-type": "application/json" }).end('{"error":"Not found"}');
  await withServer(other, (url) => expectFailure({ SVC_URL: url }, -32_000, /status 404.*Check the URL/));
  const pretty: RequestListener = (_request, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end("{");
  await withServer(pretty, (url) => expectFailure({ SVC_URL: url }, -32_000, /not a response of the service/));
});

test("an invalid URL and a broken configuration file are errors", async () => {
  await expectFailure({ SVC_URL: "apps.example.com" }, -32_001, /"apps.example.com" is not the URL of a service/);
  await cli.writeConfig("{");
  await expectFailure({ SVC_URL: "", SVC_TOKEN: "" }, -32_001, /is not a valid configuration/);
  await cli.writeConfig('{"services":{}}');
});

test("errors of the gateway reach the client with the id of their request", async () => {
  const modern = {
    "io.modelcontextprotocol/protocolVersion": "2099-01-01",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const responses = await relay([
    request("a", { method: "no/such/method" }),
    request("b", { method: "tools/list", params: { _meta: modern } }),
    request("c", { method: "tools/call", params: { name: "no_such_tool" } }),
  ]);
  expect(responses).toMatchObject([
    { id: "a", error: { code: -32_601 } },
    { id: "b", error: { code: -32_022 } },
    { id: "c", error: { code: -32_602, message: expect.stringContaining("Unknown tool") } },
  ]);
});

test("lines that are not messages get errors, and the next message a response", async () => {
  const responses = await relay(["{", "5", "[1]", "", "\r", `${request(1, LIST_APPS)}\r`, "not JSON"]);
  const error = { code: -32_700, message: "The line is not a JSON-RPC message." };
  const withoutId = { jsonrpc: "2.0", id: null, error };
  expect(responses).toEqual([expect.objectContaining({ id: 1 }), ...Array.from({ length: 4 }, () => withoutId)]);
});

test("a message above 4 MiB gets an error with its id, and the next message a response", async () => {
  const huge = (megabytes: number) =>
    request(1, { method: "tools/list", params: { cursor: "x".repeat(megabytes * 1024 * 1024) } });
  const error = { code: -32_000, message: "The message exceeds 4 MiB." };
  const listed = expect.objectContaining({ id: 2, result: expect.anything() });
  const next = request(2, LIST_APPS);
  expect(await relay([huge(5), next])).toEqual([{ jsonrpc: "2.0", id: 1, error }, listed]);
  // Only the beginning of such a line is stored, so its id is unknown.
  expect(await relay([huge(33), next])).toEqual([listed, { jsonrpc: "2.0", id: null, error }]);
});

test("a batch of revision 2025-03-26 gets a batch of responses, also when the service cannot be reached", async () => {
  const batch = `[${request(1, LIST_APPS)},${request(2, { method: "ping" })}]`;
  const { stdout } = await cli.run(["mcp"], { input: batch });
  expect(parse(stdout)[0]).toHaveLength(2);
  const failed = await cli.run(["mcp"], { input: batch, env: { SVC_TOKEN: "" } });
  expect(parse(failed.stdout)[0]).toMatchObject([
    { id: 1, error: { code: -32_001 } },
    { id: 2, error: { code: -32_001 } },
  ]);
});

test("settings that were pasted with spaces or a line break are used without them", async () => {
  const env = { SVC_TOKEN: ` ${tenant.personal_access_token}\r\n`, SVC_URL: `${service().service.publicUrl} ` };
  const [listed] = await relay([request(1, LIST_APPS)], { ...env, SVC_ORG: ` ${tenant.org_id}\n` });
  expect(listed).toMatchObject({ id: 1, result: { structuredContent: { apps: [] } } });
});

test("SVC_ORG selects the organization of calls", async () => {
  const other = await service().tenant();
  const [refused] = await relay([request(1, LIST_APPS)], { SVC_ORG: other.org_id });
  expect(refused).toMatchObject({ id: 1, error: { code: -32_003 } });
  const [own] = await relay([request(1, LIST_APPS)], { SVC_ORG: tenant.org_id });
  expect(own).toMatchObject({ id: 1, result: { structuredContent: { apps: [] } } });
});

/** Starts `svc mcp` with a service that never responds to calls, and waits until the call has arrived. */
async function withPendingCall(use: (bridge: RunningCli, isAborted: () => boolean) => Promise<void>): Promise<void> {
  const arrived = Promise.withResolvers<void>();
  let isAborted = false;
  const listener: RequestListener = (_request, response) => {
    response.once("close", () => {
      isAborted = true;
    });
    arrived.resolve();
  };
  await withServer(listener, async (url) => {
    const bridge = cli.start(["mcp"], { env: { SVC_URL: url }, keepsInputOpen: true });
    bridge.child.stdin?.write(`${request(7, LIST_APPS)}\n`);
    await arrived.promise;
    await use(bridge, () => isAborted);
  });
}

test("a cancelled request ends its HTTP request and gets no response", async () => {
  await withPendingCall(async ({ child, ended }, isAborted) => {
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
    child.stdin?.write(`${JSON.stringify(cancelled)}\n`);
    await expect.poll(isAborted).toBe(true);
    child.stdin?.end();
    expect(await ended).toMatchObject({ code: 0, stdout: "" });
  });
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s ends the bridge and its requests, with the exit code 0",
  async (signal) => {
    await withPendingCall(async ({ child, ended }, isAborted) => {
      child.kill(signal);
      expect(await ended).toEqual({ code: 0, stdout: "", stderr: "" });
      await expect.poll(isAborted).toBe(true);
    });
  },
);

test("a client that has closed its end of the output ends the bridge", async () => {
  const { child, ended } = cli.start(["mcp"], { keepsInputOpen: true });
  child.stdout?.destroy();
  child.stdin?.write(`${request(1, LIST_APPS)}\n`);
  expect((await ended).code).toBe(0);
});

test("an interrupted call is not repeated, and its error says that it may have been executed", async () => {
  let calls = 0;
  const interrupt: RequestListener = (received) => {
    calls += 1;
    received.socket.destroy();
  };
  await withServer(interrupt, async (url) => {
    const [response] = await relay([request(1, LIST_APPS)], { SVC_URL: url });
    expect(response?.error?.message).toMatch(/broke off.*may have executed the call/);
  });
  expect(calls).toBe(1);
});

test("a client that reads slowly gets every response, and the bridge sends only 100 requests meanwhile", async () => {
  const total = 300;
  let received = 0;
  const answer: RequestListener = (incoming, response) => {
    received += 1;
    let body = "";
    incoming.on("data", (chunk: Buffer) => (body += String(chunk)));
    incoming.on("end", () => {
      const { id } = JSON.parse(body) as { id: number };
      const result = { text: "x".repeat(64 * 1024) };
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  };
  await withServer(answer, async (url) => {
    const bridge = cli.start(["mcp"], { env: { SVC_URL: url }, keepsInputOpen: true });
    bridge.child.stdout?.pause();
    for (let id = 1; id <= total; id += 1) bridge.child.stdin?.write(`${request(id, { method: "tools/list" })}\n`);
    await expect.poll(() => received).toBeGreaterThanOrEqual(100);
    expect(received).toBeLessThan(total);
    bridge.child.stdout?.resume();
    await expect.poll(() => received).toBe(total);
    bridge.child.stdin?.end();
    const { code, stdout, stderr } = await bridge.ended;
    expect([code, stderr]).toEqual([0, ""]);
    expect(new Set(parse(stdout).map(({ id }) => id)).size).toBe(total);
  });
});
