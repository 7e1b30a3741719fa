import { expect, test } from "vitest";
import { sendError, sendJson, sendResult, startMcpServer } from "../../support/procedures/mcp-server.ts";

async function callWithResult(result: unknown) {
  await using server = await startMcpServer((request) => sendResult(request, result));
  return await server.call();
}

async function callWithInvalidResult(result: unknown) {
  await using server = await startMcpServer((request) => sendResult(request, result));
  return await server.callError();
}

const text = (value: string) => ({ type: "text", text: value });
const image = { type: "image", data: "aGk=", mimeType: "image/png" };

test.each<[string, object, unknown]>([
  ["structured content", { structuredContent: { n: 1 }, content: [] }, { n: 1 }],
  ["structured content only", { structuredContent: { n: 1 } }, { n: 1 }],
  ["structured content that is not an object", { structuredContent: [1], content: [text("[1]")] }, [1]],
  ["structured content and text", { structuredContent: { n: 1 }, content: [text("one")] }, { n: 1 }],
  ["structured content that is null", { structuredContent: null, content: [text("one")] }, "one"],
  ["several texts", { content: [text("one"), text("two")] }, "one\ntwo"],
  ["a text without a type", { content: [{ text: "one" }] }, "one"],
  ["empty content", { content: [] }, ""],
  ["no content", {}, ""],
])("the output of a result with %s", async (_kind, result, output) => {
  expect(await callWithResult(result)).toEqual({ ok: true, output });
});

test("the output of a result with other blocks than text is the list of its blocks, without annotations and metadata", async () => {
  const extra = { annotations: { audience: ["user"], priority: 1 }, _meta: { "x/y": 1 } };
  const resource = { uri: "file:///a", mimeType: "text/plain", text: "hello" };
  const blocks = [
    text("see"),
    image,
    { type: "audio", data: "aGk=", mimeType: "audio/wav" },
    { type: "resource", resource },
    { type: "resource", resource: { uri: "file:///b", blob: "aGk=" } },
    { type: "resource_link", uri: "file:///c", name: "c", mimeType: "text/plain" },
  ];
  const sent = [
    ...blocks.map((block) => ({ ...block, ...extra })),
    { type: "resource_link", uri: "file:///d", name: "d", description: "Fetch this now", icons: [] },
    { type: "hologram", n: 1, ...extra },
    { type: "image", data: 7 },
  ];
  const link = { type: "resource_link", uri: "file:///d", name: "d" };
  const output = [...blocks, link, { type: "hologram", n: 1 }, { type: "image", data: 7 }];
  const unknown = output.slice(-2).map((block) => ({ type: "unknown", block }));
  expect(await callWithResult({ content: sent })).toEqual({
    ok: true,
    output,
    content: { blocks: [...blocks, link, ...unknown], isOutput: true },
  });
  expect(await callWithResult({ content: [image], structuredContent: { n: 1 } })).toEqual({
    ok: true,
    output: { n: 1 },
    content: { blocks: [image], isOutput: false },
  });
});

test.each<[string, object, string]>([
  ["texts", { content: [text("closed"), text("on Sundays")] }, "closed\non Sundays"],
  ["an embedded resource", { content: [{ type: "resource", resource: { uri: "a:b", text: "log" } }] }, "log"],
  ["structured content only", { content: [], structuredContent: { code: 7 } }, `{"code":7}`],
  ["nothing", { content: [] }, "The app gave no reason."],
])("an error result with %s has its text as the message", async (_kind, result, message) => {
  expect(await callWithResult({ isError: true, ...result })).toEqual({ ok: false, status: 200, message });
});

test("an error of JSON-RPC is a result with its message and the status of HTTP", async () => {
  for (const status of [200, 500]) {
    await using server = await startMcpServer((request) =>
      sendError(request, status, { code: -32_602, message: "no" }),
    );
    expect(await server.call()).toEqual({ ok: false, status, message: "no" });
  }
  await using html = await startMcpServer(({ response }) => void response.writeHead(503).end("<h1>Down</h1>"));
  expect(await html.call()).toEqual({ ok: false, status: 503, message: "<h1>Down</h1>" });
});

test.each<[string, unknown]>([
  ["a result that is not an object", 7],
  ["content that is not a list", { content: 7 }],
  ["a part that is null", { content: [null] }],
  ["a request for input", { resultType: "input_required", inputRequests: {} }],
  ["a result of another type", { resultType: "task" }],
])("%s fails the call as an error of the app", async (_kind, result) => {
  expect(await callWithInvalidResult(result)).toMatch(/^The /);
});

test.each<[string, unknown]>([
  ["a body without a message", {}],
  ["a response to another request", { jsonrpc: "2.0", id: 0, result: {} }],
  ["a list without our response", [{ jsonrpc: "2.0", method: "notifications/message" }]],
])("%s fails the call as an error of the app", async (_kind, body) => {
  await using server = await startMcpServer(({ response }) => sendJson(response, body));
  expect(await server.callError()).toContain("without a JSON-RPC response to the call");
});
