import { expect, test } from "vitest";
import type { ProcedureResult } from "../../../domain/ports/app-caller.ts";
import {
  createSessionServer,
  type McpRequest,
  sendError,
  sendResult,
  startMcpServer,
  textResult,
} from "../../support/procedures/mcp-server.ts";

const HANDSHAKE = ["initialize", "notifications/initialized"];
const outputOf = (result: ProcedureResult) => (result.ok ? result.output : result);

test("a server without sessions gets one request for each call", async () => {
  await using server = await startMcpServer((request) => sendResult(request, textResult("hi")));
  expect(await server.call()).toEqual({ ok: true, output: "hi" });
  expect(await server.call({ hasSession: false, revision: "2025-03-26" })).toEqual({ ok: true, output: "hi" });
  expect(server.methods()).toEqual(["tools/call", "tools/call"]);
  const [first, second] = server.requests;
  expect(first?.message).toMatchObject({ jsonrpc: "2.0", params: { name: "look", arguments: {} } });
  expect(first?.headers).toMatchObject({
    host: "shop.localhost",
    authorization: "Bearer sva_token",
    accept: "application/json, text/event-stream",
  });
  expect([first, second].map((request) => request?.headers["mcp-protocol-version"])).toEqual([undefined, "2025-03-26"]);
  expect(first?.message.id).not.toBe(second?.message.id);
});

test("revision 2026-07-28 needs no handshake: each request has its metadata and its headers", async () => {
  await using server = await startMcpServer((request) =>
    sendResult(request, { ...textResult("hi"), resultType: "complete" }),
  );
  const headers = [
    { name: "Region", path: ["at", "region"] },
    { name: "Missing", path: ["missing"] },
  ];
  const invocation = { revision: "2026-07-28", tool: "größe", hasSession: false, headers };
  expect(await server.call(invocation, { input: { at: { region: "eu" } } })).toEqual({ ok: true, output: "hi" });
  const [request] = server.requests;
  expect(server.methods()).toEqual(["tools/call"]);
  expect(request?.message.params).toEqual({
    name: "größe",
    arguments: { at: { region: "eu" } },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "app-provisioning-service", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  });
  expect(request?.headers).toMatchObject({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": `=?base64?${Buffer.from("größe").toString("base64")}?=`,
    "mcp-param-region": "eu",
  });
  expect(request?.headers["mcp-param-missing"]).toBeUndefined();
});

test.each([[true], [false], [undefined]])(
  "a session is started at the first call and kept, also if discovery found hasSession %s",
  async (hasSession) => {
    const sessions = new Set<string>();
    await using server = await startMcpServer(createSessionServer(sessions, "2025-03-26"));
    const invocation = hasSession === undefined ? {} : { hasSession, revision: "2025-03-26" };
    const outputs = [await server.call(invocation), await server.call(invocation)].map(outputOf);
    expect([...sessions, ...sessions]).toEqual(outputs);
    const rejected = hasSession === true ? [] : ["tools/call"];
    expect(server.methods()).toEqual([...rejected, ...HANDSHAKE, "tools/call", "tools/call"]);
    const initialize = server.requests.find(({ message }) => message.method === "initialize");
    expect(initialize?.message.params).toMatchObject({
      protocolVersion: hasSession === undefined ? "2025-11-25" : "2025-03-26",
      capabilities: {},
    });
    expect(server.requests.at(-1)?.headers["mcp-protocol-version"]).toBe("2025-03-26");
  },
);

test("concurrent first calls share one handshake", async () => {
  const sessions = new Set<string>();
  await using server = await startMcpServer(createSessionServer(sessions));
  await Promise.all(Array.from({ length: 10 }, (_, index) => server.call(index % 2 === 0 ? { hasSession: true } : {})));
  expect(sessions.size).toBe(1);
  expect(server.methods().filter((method) => method === "initialize")).toHaveLength(1);
});

test("a handshake goes on for other calls when the call that started it is aborted", async () => {
  const sessions = new Set<string>();
  const handle = createSessionServer(sessions);
  const held: McpRequest[] = [];
  await using server = await startMcpServer((request) => {
    if (request.message.method === "initialize") held.push(request);
    else handle(request);
  });
  const controller = new AbortController();
  const first = server.callError({ hasSession: true }, { signal: controller.signal });
  const second = server.call({ hasSession: true });
  while (held.length === 0) await new Promise(setImmediate);
  controller.abort();
  expect(await first).toContain("did not respond within");
  held.forEach(handle);
  expect([outputOf(await second)]).toEqual([...sessions]);
});

test.each([
  [404, "Session not found"],
  [400, "Bad Request: No valid session ID provided"],
  [400, "Bad Request: Server not initialized"],
])("a session that the server forgot is started again: %i %s", async (status, message) => {
  const sessions = new Set<string>();
  const handle = createSessionServer(sessions);
  await using server = await startMcpServer((request) => {
    const isForgotten =
      request.message.method === "tools/call" && !sessions.has(String(request.headers["mcp-session-id"]));
    if (isForgotten) sendError(request, status, { code: -32_000, message });
    else handle(request);
  });
  await server.call({ hasSession: true });
  sessions.clear();
  const calls = [server.call({ hasSession: true }), server.call({ hasSession: true })];
  const outputs = (await Promise.all(calls)).map(outputOf);
  expect(outputs).toEqual([...sessions, ...sessions]);
  expect(server.methods().filter((method) => method === "initialize")).toHaveLength(2);
});

test("a server that rejects every session fails the call after one more try, and the next call tries again", async () => {
  const handle = createSessionServer(new Set());
  await using server = await startMcpServer((request) =>
    request.message.method === "tools/call"
      ? sendError(request, 404, { code: -32_001, message: "Session not found" })
      : handle(request),
  );
  const failed = { ok: false, status: 404, message: "Session not found" };
  expect(await server.call({ hasSession: true })).toEqual(failed);
  expect(server.methods()).toEqual([...HANDSHAKE, "tools/call", ...HANDSHAKE, "tools/call"]);
  expect(await server.call({ hasSession: true })).toEqual(failed);
});

test("no session is shared between deployments, app tokens, apps or endpoints", async () => {
  const sessions = new Set<string>();
  await using server = await startMcpServer(createSessionServer(sessions));
  const session = { hasSession: true };
  const outputs = [
    await server.call(session),
    await server.call(session, { deploymentId: "d2" }),
    await server.call(session, { appToken: "sva_other" }),
    await server.call(session, { slug: "other" }),
    await server.call({ ...session, endpoint: "/other" }),
    await server.call(session),
  ].map(outputOf);
  expect(new Set(outputs).size).toBe(5);
  expect(outputs[5]).toBe(outputs[0]);
});

test("a server that requires a handshake, but has no sessions, gets the handshake once", async () => {
  let isInitialized = false;
  await using server = await startMcpServer((request) => {
    const { message, response } = request;
    if (message.method === "initialize")
      return sendResult(request, { protocolVersion: "2024-11-05", capabilities: {} });
    isInitialized ||= message.method === "notifications/initialized";
    if (message.id === undefined) return void response.writeHead(202).end();
    if (isInitialized) return sendResult(request, textResult("hi"));
    return sendError(request, 200, { code: -32_602, message: "Received request before initialization was complete" });
  });
  expect(await server.call()).toEqual({ ok: true, output: "hi" });
  expect(await server.call()).toEqual({ ok: true, output: "hi" });
  expect(server.methods()).toEqual(["tools/call", ...HANDSHAKE, "tools/call", "tools/call"]);
});

test("a server of revision 2026-07-28 that rejects earlier ones is called in its revision from then on", async () => {
  await using server = await startMcpServer((request) =>
    request.headers["mcp-protocol-version"] === "2026-07-28"
      ? sendResult(request, { ...textResult("hi"), resultType: "complete" })
      : sendError(request, 400, {
          code: -32_022,
          message: "Unsupported protocol version",
          data: { supported: ["2026-07-28"] },
        }),
  );
  expect(await server.call()).toEqual({ ok: true, output: "hi" });
  expect(await server.call()).toEqual({ ok: true, output: "hi" });
  expect(server.methods()).toEqual(["tools/call", "tools/call", "tools/call"]);
});

test("an error of a tool that mentions a session is not repeated", async () => {
  await using server = await startMcpServer((request) =>
    sendError(request, 200, { code: -32_602, message: "No session of the conference has this id" }),
  );
  expect(await server.call()).toMatchObject({ ok: false, message: "No session of the conference has this id" });
  expect(server.methods()).toEqual(["tools/call"]);
});

test("a server that rejects the handshake fails the call with its message", async () => {
  await using server = await startMcpServer((request) =>
    sendError(request, 400, { code: -32_600, message: "Invalid Request: Server already initialized" }),
  );
  const failed = { ok: false, status: 400, message: "Invalid Request: Server already initialized" };
  expect(await server.call({ hasSession: true })).toEqual(failed);
});

test.each([
  ["a session id with other characters", "a b", "2025-06-18", "session id"],
  ["a very long session id", "x".repeat(5000), "2025-06-18", "session id"],
  ["a revision that is not a date", "s1", "latest", "not a date"],
])("%s fails the call, and is not part of the error message", async (_kind, session, protocolVersion, message) => {
  const headers = { "mcp-session-id": session };
  await using server = await startMcpServer((request) => sendResult(request, { protocolVersion }, headers));
  const error = await server.callError({ hasSession: true });
  expect(error).toContain(message);
  for (const text of [`"${protocolVersion}"`, ` ${session} `]) expect(error).not.toContain(text);
});
