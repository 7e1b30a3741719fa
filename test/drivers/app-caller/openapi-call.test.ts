import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import { AppCallFailed, type ProcedureResult } from "../../../domain/ports/app-caller.ts";
import type { Invocation, RequestParameter } from "../../../domain/ports/procedure-discovery.ts";
import { EdgeProxyCaller } from "../../../server/drivers/app-caller/edge-proxy-caller.ts";
import { type ReceivedRequest, recordRequests, startLoopbackServer } from "../../support/loopback-server.ts";

type OpenApiInvocation = Extract<Invocation, { via: "openapi" }>;

const ID: RequestParameter = { name: "id", in: "path", property: "id", explode: false };
const DELETE_USER: OpenApiInvocation = {
  via: "openapi",
  method: "DELETE",
  path: "/users/{id}",
  parameters: [ID],
  body: null,
  required: ["id"],
};
const post = (body: OpenApiInvocation["body"], more: Partial<OpenApiInvocation> = {}): OpenApiInvocation => ({
  via: "openapi",
  method: "POST",
  path: "/a",
  parameters: [],
  body,
  ...more,
});
const get = (path: string, parameters: RequestParameter[] = []): OpenApiInvocation => ({
  ...post(null, { path, parameters }),
  method: "GET",
});

/** Calls a server in place of the edge proxy, and returns the result and all requests that the server received. */
async function call(
  invocation: Invocation,
  input: Record<string, unknown>,
  listener: RequestListener = (_request, response) => void response.end(),
): Promise<{ result: ProcedureResult; requests: (ReceivedRequest & { line: string })[] }> {
  const { record, requests } = recordRequests(listener);
  await using server = await startLoopbackServer(record);
  const port = Number(new URL(server.url).port);
  const caller = new EdgeProxyCaller((slug) => ({ host: "127.0.0.1", port, hostHeader: `${slug}.localhost:4001` }));
  const signal = new AbortController().signal;
  const app = { slug: "shop", deploymentId: "d1", appToken: "sva_token", name: "op", kind: "mutation" } as const;
  const result = await caller.call({ ...app, invocation, input, signal });
  return { result, requests: requests.map((request) => ({ ...request, line: `${request.method} ${request.url}` })) };
}

const respond =
  (body: string, contentType: string, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": contentType }).end(body, "latin1");

test.each<[string, Record<string, unknown>]>([
  ["a missing path parameter", {}],
  ["an empty path parameter", { id: "" }],
  ["a path parameter that is null", { id: null }],
  ['a path parameter "."', { id: "." }],
  ['a path parameter ".."', { id: ".." }],
  ["an empty list as path parameter", { id: [] }],
  ["half of a surrogate pair", { id: "\ud800" }],
])("%s is refused before anything is sent, with the name of the argument", async (_kind, input) => {
  const { result, requests } = await call(DELETE_USER, input);
  expect(result).toEqual({ ok: false, status: 400, message: expect.stringContaining('"id"') });
  expect(requests).toEqual([]);
});

test("a path parameter is refused also when its invocation was stored before required arguments were", async () => {
  const { required: _, ...stored } = DELETE_USER;
  for (const input of [{}, { id: "" }]) {
    const { result, requests } = await call(stored, input);
    expect([result.ok, requests]).toEqual([false, []]);
  }
});

test("two parameters that form a segment of dots together are refused", async () => {
  const name = { name: "name", in: "path", property: "name", explode: false } as const;
  const label = { ...ID, style: "label" } as const;
  for (const invocation of [
    { ...DELETE_USER, path: "/files/{name}{id}", parameters: [name, ID] },
    { ...DELETE_USER, path: "/files/{id}", parameters: [label] },
  ]) {
    const { result, requests } = await call(invocation, { id: ".", name: "." });
    expect([result, requests]).toEqual([expect.objectContaining({ ok: false, status: 400 }), []]);
  }
});

test.each([
  ["a/b", "/users/a%2Fb"],
  ["%2e%2e", "/users/%252e%252e"],
  ["..\\x", "/users/..%5Cx"],
  ["...", "/users/..."],
  ["$&?#", "/users/%24%26%3F%23"],
])("the path parameter %j stays one segment", async (id, path) => {
  const { requests } = await call(DELETE_USER, { id });
  expect(requests.map(({ line }) => line)).toEqual([`DELETE ${path}`]);
});

test("a header of Latin-1 is sent, and any other character or line break is refused", async () => {
  const invocation = get("/h", [{ name: "X-Name", in: "header", property: "name", explode: false }]);
  const { requests } = await call(invocation, { name: "Zoë" });
  expect(Buffer.from(String(requests[0]?.headers["x-name"]), "latin1").toString("utf8")).toBe("Zoë");
  for (const name of ["☕", "a\r\nb: c", "a\0", "a\u007f"]) {
    const refused = await call(invocation, { name });
    expect(refused.result).toEqual({ ok: false, status: 400, message: expect.stringContaining('"name"') });
    expect(refused.requests).toEqual([]);
  }
});

test("cookies, headers and queries are sent together, and those without a value are left out", async () => {
  const place = (name: string, location: RequestParameter["in"]) => ({
    name,
    in: location,
    property: name,
    explode: true,
  });
  const invocation = get("/c", [
    place("a", "cookie"),
    place("b", "cookie"),
    place("X-C", "header"),
    place("d", "query"),
  ]);
  const { requests } = await call(invocation, { a: "1;2", b: 3, "X-C": null, d: "x" });
  expect(requests[0]).toMatchObject({ line: "GET /c?d=x", headers: { cookie: "a=1%3B2; b=3" } });
  expect(requests[0]?.headers).not.toHaveProperty("x-c");
});

test("a required argument of the query or the body is checked, and null is a value of a body only", async () => {
  const query = { ...get("/q", [{ name: "q", in: "query", property: "q", explode: true }]), required: ["q"] };
  const body = post({ contentType: "application/json", property: "body" }, { required: ["body"] });
  const field = post({ contentType: "application/json", property: null }, { required: ["title"] });
  for (const [invocation, input] of [
    [query, { q: null }],
    [body, {}],
    [field, { other: 1 }],
  ] as const) {
    const { result, requests } = await call(invocation, input);
    expect([result, requests]).toEqual([
      { ok: false, status: 400, message: expect.stringContaining("is required") },
      [],
    ]);
  }
  expect((await call(body, { body: null })).requests[0]?.body).toBe("null");
});

test.each<[string, OpenApiInvocation["body"], Record<string, unknown>, string, string]>([
  [
    "JSON",
    { contentType: "application/merge-patch+json", property: "body" },
    { body: [1] },
    "application/merge-patch+json",
    "[1]",
  ],
  ["text", { contentType: "text/plain", property: "body" }, { body: "é" }, "text/plain", "é"],
  [
    "a form",
    { contentType: "application/x-www-form-urlencoded", property: null, fields: [{ name: "b", explode: false }] },
    { a: ["x", "y"], b: [1, 2], c: null, d: "e f" },
    "application/x-www-form-urlencoded",
    "a=x&a=y&b=1,2&d=e%20f",
  ],
])("a body is sent as %s", async (_kind, body, input, contentType, expected) => {
  const { requests } = await call(post(body), input);
  expect(requests).toMatchObject([{ headers: { "content-type": contentType }, body: expected }]);
});

test("a multipart form is read by a standard parser, whatever its values contain", async () => {
  const fields = [{ name: "json", contentType: "application/json" }];
  const input = { text: 'a"\r\n--form', list: ["x", "y"], object: { a: 1 }, json: [1, 2], 'a"b': "z", none: null };
  const { requests } = await call(post({ contentType: "multipart/form-data", property: null, fields }), input);
  const { headers, body } = requests[0] as ReceivedRequest;
  const form = await new Response(body, { headers: { "content-type": String(headers["content-type"]) } }).formData();
  expect([...form]).toEqual([
    ["text", 'a"\r\n--form'],
    ["list", "x"],
    ["list", "y"],
    ["object", '{"a":1}'],
    ["json", "[1,2]"],
    ['a"b', "z"],
  ]);
});

test("an optional body without arguments is not sent, and a required one is an empty object", async () => {
  const optional = { contentType: "application/json", property: null, isRequired: false };
  expect((await call(post(optional), {})).requests[0]?.headers).not.toHaveProperty("content-type");
  expect((await call(post({ contentType: "application/json", property: null }), {})).requests[0]?.body).toBe("{}");
});

test.each<[string, string, unknown]>([
  ["true", "application/json", true],
  ['"abc"', "application/json; charset=utf-8", "abc"],
  ["42", "application/vnd.api+json", 42],
  ["null", "application/json", null],
  ["[1]", "application/problem+json", [1]],
  ["\u00ef\u00bb\u00bf{}", "application/json", {}],
  ['"\u00e9"', "application/json; charset=iso-8859-1", "é"],
  ["", "application/json", null],
  ["{}", "text/plain", "{}"],
  ["{}\n{}", "application/x-ndjson", "{}\n{}"],
])("the response %j of type %s is a result", async (body, contentType, output) => {
  expect((await call(get("/a"), {}, respond(body, contentType))).result).toEqual({ ok: true, output });
});

test("a response that says it is JSON and is not fails the call with that message", async () => {
  const failure = call(get("/a"), {}, respond("<html>", "application/json"));
  await expect(failure).rejects.toThrow(AppCallFailed);
  await expect(failure).rejects.toThrow("not valid JSON");
});

const redirect =
  (status: number, location: string): RequestListener =>
  ({ url }, response) =>
    void (url === "/a" ? response.writeHead(status, { location }) : response).end();

test.each<[OpenApiInvocation["method"], number, string, string[]]>([
  ["GET", 302, "/b?c=1", ["GET /a", "GET /b?c=1"]],
  ["GET", 301, "http://shop.localhost:4001/b", ["GET /a", "GET /b"]],
  ["GET", 308, "https://shop.localhost/b#x", ["GET /a", "GET /b"]],
  ["POST", 307, "b", ["POST /a", "POST /b"]],
  ["POST", 303, "/b", ["POST /a", "GET /b"]],
  ["POST", 302, "/b", ["POST /a", "GET /b"]],
  ["DELETE", 308, "/b", ["DELETE /a", "DELETE /b"]],
])("%s with status %i to %s on the own host is followed", async (method, status, location, lines) => {
  const { requests } = await call({ ...get("/a"), method }, {}, redirect(status, location));
  expect(requests.map(({ line }) => line)).toEqual(lines);
  expect(requests.at(-1)?.headers).toMatchObject({ authorization: "Bearer sva_token", host: "shop.localhost:4001" });
});

test("a followed redirect repeats the body only with the method", async () => {
  const invocation = post({ contentType: "application/json", property: null }, { path: "/a" });
  const repeated = await call(invocation, { x: 1 }, redirect(307, "/b"));
  expect(repeated.requests[1]?.body).toBe('{"x":1}');
  const changed = await call(invocation, { x: 1 }, redirect(303, "/b"));
  expect(changed.requests[1]?.body).toBe("");
  expect(changed.requests[1]?.headers).not.toHaveProperty("content-type");
});

test.each<[string, OpenApiInvocation["method"], number, string]>([
  ["to another host", "GET", 302, "https://elsewhere.example/steal"],
  ["to another host without a scheme", "GET", 302, "//elsewhere.example/steal"],
  ["to another app", "GET", 302, "http://other.localhost:4001/"],
  ["to another protocol", "GET", 302, "file:///etc/passwd"],
  ["that would repeat a DELETE", "DELETE", 302, "/b"],
])("a redirect %s is a result with an explanation", async (_kind, method, status, location) => {
  const { result, requests } = await call({ ...get("/a"), method }, {}, redirect(status, location));
  expect(requests).toHaveLength(1);
  expect(result).toEqual({ ok: false, status, message: expect.stringContaining(JSON.stringify(location)) });
});

test("a loop of redirects ends after five", async () => {
  const { result, requests } = await call(
    get("/a"),
    {},
    (_request, response) => void response.writeHead(302, { location: "/a" }).end(),
  );
  expect([result.ok, requests.length]).toEqual([false, 6]);
});
