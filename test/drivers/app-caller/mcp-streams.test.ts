import { expect, test } from "vitest";
import { type McpRequest, sendJson, startMcpServer, textResult } from "../../support/procedures/mcp-server.ts";

const EVENTS = { "content-type": "text/event-stream; charset=utf-8" };
const PROGRESS = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } };
const event = (message: unknown) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
const respondTo = ({ message }: McpRequest, text = "hi") => ({
  jsonrpc: "2.0",
  id: message.id,
  result: textResult(text),
});

/** A server that sends one stream, which it ends unless `isOpen`. */
const streamServer = (write: (request: McpRequest) => string, isOpen = false) =>
  startMcpServer((request) => {
    const { response, message } = request;
    if (message.method !== "tools/call") return void response.writeHead(202).end();
    response.writeHead(200, EVENTS).write(write(request));
    if (!isOpen) response.end();
  });

test.each<[string, (request: McpRequest) => string]>([
  ["one event", (request) => event(respondTo(request))],
  ["progress before the response", (request) => event(PROGRESS) + event(respondTo(request))],
  ["a message after the response", (request) => event(respondTo(request)) + event(PROGRESS)],
  [
    "a response to another request first",
    (request) => event({ jsonrpc: "2.0", id: 0, result: {} }) + event(respondTo(request)),
  ],
  [
    "a response to another request last",
    (request) => event(respondTo(request)) + event({ jsonrpc: "2.0", id: 0, result: {} }),
  ],
  ["a priming event without data", (request) => `id: 1\nretry: 500\ndata: \n\nid: 2\n${event(respondTo(request))}`],
  ["comments and a byte order mark", (request) => `\uFEFF: hello\n\n${event(respondTo(request))}: bye\n\n`],
  ["line ends of Windows", (request) => event(respondTo(request)).replaceAll("\n", "\r\n")],
  ["line ends of old Macs", (request) => event(respondTo(request)).replaceAll("\n", "\r")],
  [
    "data on several lines",
    (request) => `data: ${JSON.stringify(respondTo(request), null, 1).replaceAll("\n", "\ndata: ")}\n\n`,
  ],
  ["no space after the colon", (request) => `data:${JSON.stringify(respondTo(request))}\n\n`],
  ["an event of another type", (request) => `event: endpoint\ndata: /x\n\n${event(respondTo(request))}`],
  ["an event that nothing ends", (request) => event(respondTo(request)).trimEnd()],
  ["a batch", (request) => event([PROGRESS, respondTo(request)])],
])("the response is found in a stream with %s", async (_kind, write) => {
  await using server = await streamServer(write);
  expect(await server.call()).toEqual({ ok: true, output: "hi" });
});

test("the call ends with the response, also if the server keeps the stream open", async () => {
  await using server = await streamServer((request) => event(respondTo(request)), true);
  expect(await server.call()).toEqual({ ok: true, output: "hi" });
});

test("text that is split between two parts of the stream is read as one", async () => {
  await using server = await startMcpServer((request) => {
    const bytes = Buffer.from(event(respondTo(request, "größe")));
    const middle = bytes.indexOf("ß") + 1;
    request.response.writeHead(200, EVENTS).write(bytes.subarray(0, middle));
    setTimeout(() => request.response.end(bytes.subarray(middle)), 20);
  });
  expect(await server.call()).toEqual({ ok: true, output: "größe" });
});

test.each(["sampling/createMessage", "elicitation/create", "roots/list"])(
  "a tool that sends %s to its client fails the call at once, with the name of the request",
  async (method) => {
    await using server = await streamServer(() => event({ jsonrpc: "2.0", id: "s1", method, params: {} }), true);
    expect(await server.callError()).toBe(
      `The tool sent the request "${method}" to its client before it finished. A tool can only be called if it needs no input from its client during the call.`,
    );
  },
);

test("a ping of the server is answered, and the call goes on", async () => {
  let waiting: McpRequest | undefined;
  await using server = await startMcpServer((request) => {
    const { message, response } = request;
    if (message.method === "tools/call") {
      waiting = request;
      return void response.writeHead(200, EVENTS).write(event({ jsonrpc: "2.0", id: "p1", method: "ping" }));
    }
    expect(message).toEqual({ jsonrpc: "2.0", id: "p1", result: {} });
    response.writeHead(202).end();
    return void (waiting && waiting.response.end(event(respondTo(waiting))));
  });
  expect(await server.call()).toEqual({ ok: true, output: "hi" });
});

test("a flood of pings fails the call", async () => {
  const ping = event({ jsonrpc: "2.0", id: "p1", method: "ping" });
  await using server = await streamServer(() => ping.repeat(50_000), true);
  expect(await server.callError()).toBe("The tool sent more than 10 pings.");
  expect(server.requests.length).toBeLessThanOrEqual(11);
});

test("a stream that the server ends early is resumed after its last event", async () => {
  let call: McpRequest | undefined;
  await using server = await startMcpServer((request) => {
    const { response, headers } = request;
    response.writeHead(200, EVENTS);
    if (request.httpMethod === "POST") {
      call = request;
      return void response.end("id: e1\nretry: 10\ndata: \n\n");
    }
    if (headers["last-event-id"] === "e1") return void response.end(`id: e2\n${event(PROGRESS)}`);
    return void response.end(call && event(respondTo(call)));
  });
  expect(await server.call({ revision: "2025-11-25" })).toEqual({ ok: true, output: "hi" });
  expect(server.methods()).toEqual(["tools/call", "GET", "GET"]);
  expect(server.requests.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "e1", "e2"]);
  expect(server.requests[1]?.headers).toMatchObject({
    accept: "text/event-stream",
    "mcp-protocol-version": "2025-11-25",
  });
});

test.each([
  ["without a response", ": hello\n\n", /^The app's event stream ended without a response to the call\.$/],
  ["and cannot be resumed", "id: e1\nretry: 10\ndata: \n\n", /and cannot be resumed\.$/],
])("a stream that ends %s fails the call", async (_kind, text, message) => {
  await using server = await startMcpServer(({ httpMethod, response }) =>
    httpMethod === "POST" ? void response.writeHead(200, EVENTS).end(text) : void response.writeHead(405).end(),
  );
  expect(await server.callError()).toMatch(message);
});

test("a stream or a body above 4 MiB fails the call", async () => {
  const long = "x".repeat(3_000_000);
  await using stream = await streamServer(() => event(long) + event(long), true);
  expect(await stream.callError()).toBe("The app's response exceeds 4 MiB.");
  await using body = await startMcpServer(({ response }) => sendJson(response, [long, long]));
  expect(await body.callError()).toBe("The app's response exceeds 4 MiB.");
});

test("the signal of the call ends the wait for a stream", async () => {
  await using server = await streamServer(() => ": hello\n\n", true);
  expect(await server.callError({}, { signal: AbortSignal.timeout(50) })).toContain("did not respond within 30 s");
});

test("a closed connection fails the call", async () => {
  await using server = await startMcpServer(({ response }) => void response.destroy());
  expect(await server.callError()).toContain("closed the connection");
});
