import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type AppCall, AppCallFailed, type ProcedureResult } from "../../../domain/ports/app-caller.ts";
import type { Invocation } from "../../../domain/ports/procedure-discovery.ts";
import { EdgeProxyCaller } from "../../../server/drivers/app-caller/edge-proxy-caller.ts";
import { type ReceivedRequest, recordRequests } from "../../support/loopback-server.ts";

const TRPC: Invocation = { via: "trpc", endpoint: "/trpc", transformer: "none" };
const SUPERJSON: Invocation = { via: "trpc", endpoint: "/trpc", transformer: "superjson" };
const OPENAPI: Invocation = {
  via: "openapi",
  method: "POST",
  path: "/tasks/{id}",
  parameters: [
    { name: "id", in: "path", property: "id", explode: false },
    { name: "X-Trace", in: "header", property: "trace", explode: false },
    { name: "tag", in: "query", property: "tags", explode: true },
  ],
  body: { contentType: "application/json", property: null },
};

/** Calls a server in place of the edge proxy, and returns the result and the request that the server received. */
async function callServer(
  listener: RequestListener,
  call: Partial<AppCall>,
): Promise<{ result: ProcedureResult; request: ReceivedRequest }> {
  const { record, requests } = recordRequests(listener);
  const server = createServer(record).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const result = await createCaller(server).call({
      slug: "shop",
      deploymentId: "d1",
      appToken: "sva_token",
      name: "orders.list",
      kind: "query",
      invocation: TRPC,
      input: {},
      signal: new AbortController().signal,
      ...call,
    });
    return { result, request: requests[0] as ReceivedRequest };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function createCaller(server: Server): EdgeProxyCaller {
  const { port } = server.address() as AddressInfo;
  return new EdgeProxyCaller((slug) => ({ host: "127.0.0.1", port, hostHeader: `${slug}.localhost` }));
}

const sendJson =
  (value: unknown, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

test("a tRPC query is a GET to the app's host with the app's token", async () => {
  const { result, request } = await callServer(sendJson({ result: { data: [1] } }), { input: { a: "b c" } });
  expect(result).toEqual({ ok: true, output: [1] });
  expect([request.method, request.url]).toEqual(["GET", "/trpc/orders.list?input=%7B%22a%22%3A%22b%20c%22%7D"]);
  expect(request.headers).toMatchObject({ host: "shop.localhost", authorization: "Bearer sva_token" });
});

test("a tRPC call without input sends none where the procedure accepts that, and otherwise an empty object", async () => {
  const optional: Invocation = { ...TRPC, isInputOptional: true };
  const send = async (call: Partial<AppCall>, response: unknown = { result: { data: 1 } }) => {
    const { result, request } = await callServer(sendJson(response), { input: undefined, ...call });
    expect(result).toEqual({ ok: true, output: 1 });
    return `${request.method} ${request.url} ${request.body}`.trimEnd();
  };
  expect(await send({ invocation: optional })).toBe("GET /trpc/orders.list");
  expect(await send({})).toBe("GET /trpc/orders.list?input=%7B%7D");
  expect(await send({ kind: "mutation" })).toBe("POST /trpc/orders.list {}");
  // Outside a batch, earlier versions of tRPC refuse an empty body.
  const batch = [{ result: { data: 1 } }];
  expect(await send({ kind: "mutation", invocation: optional }, batch)).toBe("POST /trpc/orders.list?batch=1 {}");
});

test("a tRPC input can be any value, and dates, sets and bigints become JSON where there is no superjson", async () => {
  const { request } = await callServer(sendJson({ result: { data: 1 } }), {
    kind: "mutation",
    input: [new Date(5), new Set([7n])],
  });
  expect(request.body).toBe('["1970-01-01T00:00:00.005Z",["7"]]');
  const named: Invocation = { ...TRPC, procedure: "größe" };
  const called = await callServer(sendJson({ result: { data: 1 } }), { invocation: named, input: "text" });
  expect(called.request.url).toBe("/trpc/gr%C3%B6%C3%9Fe?input=%22text%22");
});

test("the input of an OpenAPI operation is split into path, header, query and body", async () => {
  const input = { id: "7/8", trace: "a b", tags: ["x", "y"], title: "T" };
  const { result, request } = await callServer(sendJson({ done: true }), { invocation: OPENAPI, input });
  expect(result).toEqual({ ok: true, output: { done: true } });
  expect([request.method, request.url, request.body]).toEqual(["POST", "/tasks/7%2F8?tag=x&tag=y", `{"title":"T"}`]);
  expect(request.headers["x-trace"]).toBe("a b");
});

test("an error response of the app is a result with its status and message", async () => {
  const trpcError = sendJson({ error: { message: "no such order" } }, 404);
  expect((await callServer(trpcError, {})).result).toEqual({ ok: false, status: 404, message: "no such order" });
  const long = sendJson("x".repeat(50_000), 500);
  const { result } = await callServer(long, { invocation: OPENAPI, input: { id: 1 } });
  expect(result).toMatchObject({ ok: false, status: 500, message: `"${"x".repeat(31_999)}` });
});

test.each<[string, Invocation, unknown]>([
  ["text that is not JSON", TRPC, undefined],
  ["a superjson value that is null", SUPERJSON, { result: { data: null } }],
])("a response with %s fails the call as an error of the app", async (_kind, invocation, value) => {
  const listener: RequestListener =
    value === undefined ? (_request, response) => void response.end("{") : sendJson(value);
  await expect(callServer(listener, { invocation })).rejects.toBeInstanceOf(AppCallFailed);
});

test("a response above 4 MiB, a closed connection and an abort fail the call", async () => {
  const large: RequestListener = (_request, response) => void response.end("x".repeat(5_000_000));
  await expect(callServer(large, {})).rejects.toThrow("The app's response exceeds 4 MiB.");
  const closed: RequestListener = (request) => void request.socket.destroy();
  await expect(callServer(closed, {})).rejects.toThrow("closed the connection");
  const silent: RequestListener = () => undefined;
  await expect(callServer(silent, { signal: AbortSignal.timeout(50) })).rejects.toThrow("did not respond in time");
});
