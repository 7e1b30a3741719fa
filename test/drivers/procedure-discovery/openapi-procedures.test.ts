import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { Content } from "../../support/builds/bundle-checkout.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

const PLAIN = `export default { fetch: () => new Response("nothing", { status: 404 }) };`;

const discoverIn = (files: Record<string, Content>) => shared().discover(PLAIN, { files });

/** Discovers an app whose repository has an OpenAPI document with these paths. */
const discoverPaths = (paths: object, rest: object = {}) =>
  discoverIn({ "openapi.json": JSON.stringify({ openapi: "3.0.3", info: {}, paths, ...rest }) });

const ok = { responses: { 200: { description: "ok" } } };

test("a document in JSON or YAML is found at the root or in docs, and the root takes precedence", async () => {
  const yaml = "openapi: 3.1.0\npaths:\n  /a:\n    get:\n      operationId: fromYaml\n";
  const json = (operationId: string) => JSON.stringify({ openapi: "3.1.0", paths: { "/a": { get: { operationId } } } });
  for (const [files, name] of [
    [{ "docs/openapi.yaml": yaml }, "fromYaml"],
    [{ "openapi.yml": yaml }, "fromYaml"],
    [{ "docs/openapi.json": json("inDocs"), "openapi.json": json("atRoot") }, "atRoot"],
  ] as const) {
    const { procedures, problem } = await discoverIn(files);
    expect([procedures.map((procedure) => procedure.name), problem]).toEqual([[name], null]);
  }
});

test.each(["/doc", "/swagger/json", "/api/v2/my-openapi.json"])(
  "a document that the app serves at %s is found",
  async (path) => {
    const document = { openapi: "3.1.0", paths: { "/a": { get: { operationId: "served" } } } };
    const { procedures } = await shared().discover(
      `export default { fetch: (request) => new URL(request.url).pathname === ${JSON.stringify(path)}
      ? Response.json(${JSON.stringify(document)}) : new Response("", { status: 404 }) };`,
    );
    expect(procedures.map(({ name }) => name)).toEqual(["served"]);
  },
);

test("a document that a service worker serves is found", async () => {
  const document = { openapi: "3.1.0", paths: { "/a": { get: { operationId: "served" } } } };
  const { procedures, problem } = await shared().discover(
    `addEventListener("fetch", (event) => event.respondWith(event.request.url.endsWith("/openapi.json")
      ? Response.json(${JSON.stringify(document)}) : new Response("at any path")));`,
    { isServiceWorker: true },
  );
  expect([procedures.map(({ name }) => name), problem]).toEqual([["served"], null]);
});

test("an app without a document in its repository is asked for /openapi.json", async () => {
  const document = { openapi: "3.1.0", paths: { "/a/{id}": { delete: {} } } };
  const { procedures } = await shared().discover(
    `export default { fetch: (request) => request.url.endsWith("/openapi.json")
      ? new Response(${JSON.stringify(JSON.stringify(document))}) : new Response("", { status: 404 }) };`,
  );
  expect(procedures).toEqual([
    {
      name: "delete_a_id",
      kind: "mutation",
      description: "",
      inputSchema: {
        type: "object",
        properties: { id: { type: "string" } },
        required: ["id"],
        additionalProperties: false,
      },
      outputSchema: null,
      invocation: {
        via: "openapi",
        method: "DELETE",
        path: "/a/{id}",
        parameters: [{ name: "id", in: "path", property: "id", explode: false }],
        body: null,
        required: ["id"],
      },
    },
  ]);
});

test("parameters and body become one input in which every name is unique", async () => {
  const body = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  const { procedures } = await discoverPaths({
    "/a/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
      put: {
        ...ok,
        parameters: [
          { name: "id", in: "query", schema: { type: "boolean" } },
          { name: "X-Trace", in: "header", schema: { type: "string" } },
          { name: "session", in: "cookie", schema: { type: "string" } },
        ],
        requestBody: { required: true, content: { "application/json": { schema: body } } },
      },
    },
  });
  expect(procedures[0]?.inputSchema).toEqual({
    type: "object",
    properties: {
      id: { type: "integer" },
      query_id: { type: "boolean" },
      "X-Trace": { type: "string" },
      session: { type: "string" },
      body,
    },
    required: ["id", "body"],
    additionalProperties: false,
  });
  expect(procedures[0]?.invocation).toMatchObject({
    parameters: [
      { name: "id", in: "path", property: "id" },
      { name: "id", in: "query", property: "query_id" },
      { name: "X-Trace", in: "header", property: "X-Trace" },
      { name: "session", in: "cookie", property: "session" },
    ],
    required: ["id", "body"],
    body: { contentType: "application/json", property: "body" },
  });
});

test("no parameter can set a header that identifies the caller or controls how the request is read", async () => {
  const names = [
    "Authorization",
    "Cookie",
    "Host",
    "Content-Length",
    "x-service-auth",
    "X-Forwarded-For",
    "a b",
    "fine",
  ];
  const parameters = names.map((name) => ({ name, in: "header", schema: {} }));
  const { procedures } = await discoverPaths({ "/a": { get: { ...ok, parameters } } });
  expect(Object.keys(procedures[0]?.inputSchema["properties"] ?? {})).toEqual(["fine"]);
});

test("local references are resolved within bounds, and no other document is fetched or read", async () => {
  const requests: string[] = [];
  const server = http.createServer((request, response) => void response.end(requests.push(request.url ?? "")));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const remote = `http://127.0.0.1:${(server.address() as AddressInfo).port}/schema.json`;
  const referToTenTimes = (next: string) => ({
    type: "object",
    properties: Object.fromEntries(
      "abcdefghij".split("").map((name) => [name, { $ref: `#/components/schemas/${next}` }]),
    ),
  });
  const bomb = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`B${i}`, referToTenTimes(`B${i + 1}`)]));
  const input = (schema: object) => ({ ...ok, requestBody: { content: { "application/json": { schema } } } });
  const { procedures } = await discoverPaths(
    {
      "/plain": { post: input({ $ref: "#/components/schemas/A~1b" }) },
      "/tree": { post: input({ $ref: "#/components/schemas/Tree" }) },
      "/network": { post: input({ $ref: remote }) },
      "/file": { post: input({ $ref: "../../etc/passwd" }) },
      "/loop": { post: input({ $ref: "#/components/schemas/Loop" }) },
      "/item": { $ref: remote },
      "/bomb": { post: input({ $ref: "#/components/schemas/B0" }) },
    },
    {
      components: {
        schemas: {
          ...bomb,
          "A/b": { type: "object", properties: { a: { type: "string", nullable: true } } },
          Tree: { type: "object", properties: { below: { $ref: "#/components/schemas/Tree" } } },
          Loop: { $ref: "#/components/schemas/Loop" },
        },
      },
    },
  );
  await new Promise((resolve) => server.close(resolve));
  const inputs = Object.fromEntries(procedures.map(({ name, inputSchema }) => [name, inputSchema["properties"]]));
  expect(inputs).toMatchObject({
    post_plain: { a: { anyOf: [{ type: "string" }, { type: "null" }] } },
    post_tree: { below: {} },
    post_network: { body: {} },
    post_file: { body: {} },
    post_loop: { body: {} },
  });
  expect(requests).toEqual([]);
});

test("a path or server that names another host or leaves its folder is never called", async () => {
  const paths = ["//elsewhere.example/a", "/a/../../b", "/a/%2e%2e/b", "/a?x=1", "/a\\b", "https://elsewhere.example/"];
  const { procedures, problem } = await discoverPaths(
    { ...Object.fromEntries(paths.map((path) => [path, { get: ok }])), "/fine": { get: { operationId: "fine" } } },
    { servers: [{ url: "https://elsewhere.example/v2/" }] },
  );
  const invocations = procedures.map(({ invocation }) => invocation);
  expect(invocations).toMatchObject([{ path: "/v2/fine" }]);
  expect(problem).toContain("unsupported form");
});

test("operations without an id or with the same id get unique names", async () => {
  const { procedures } = await discoverPaths({
    "/a": { get: { operationId: "repos/get it" }, post: { operationId: "repos_get_it" } },
    "/b/{x}/c.json": { get: ok },
  });
  expect(procedures.map(({ name }) => name)).toEqual(["repos_get_it", "repos_get_it_2", "get_b_x_c.json"]);
});

test("a document behind a symbolic link is not read", async () => {
  const outside = JSON.stringify({ openapi: "3.1.0", paths: { "/a": { get: {} } } });
  const checkouts: Record<string, Content>[] = [
    { "hidden/other.json": outside, "openapi.json": { link: "hidden/other.json" } },
    { "hidden/openapi.json": outside, docs: { link: "hidden" } },
  ];
  for (const files of checkouts) expect(await discoverIn(files)).toEqual({ procedures: [], problem: null });
});

test("a document that is too large, malformed or of an older version is reported as a problem", async () => {
  const checkouts: Record<string, Content>[] = [
    { "openapi.json": "x".repeat(17 * 1024 * 1024) },
    { "openapi.json": "{" },
    { "openapi.yaml": "? ".repeat(100_000) },
    { "openapi.json": `{"swagger":"2.0","paths":{}}` },
  ];
  for (const files of checkouts) {
    const { procedures, problem } = await discoverIn(files);
    expect([procedures, problem]).toEqual([[], expect.stringContaining("openapi.")]);
  }
});

test("a schema nested too deep loses its deepest levels, and a long chain of references accepts any value", async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, at) => [`C${at}`, { $ref: `#/components/schemas/C${at + 1}` }]),
  );
  const input = (schema: object) => ({ ...ok, requestBody: { content: { "application/json": { schema } } } });
  const document = JSON.stringify({
    openapi: "3.0.3",
    paths: {
      "/deep": { post: input({ not: "DEEP" }) },
      "/chain": { post: input({ $ref: "#/components/schemas/C0" }) },
      "/fine": { post: input({ type: "string" }) },
    },
    components: { schemas: chain },
  });
  const deep = `${`{"not":`.repeat(5000)}{}${"}".repeat(5000)}`;
  const { procedures, problem } = await discoverIn({ "openapi.json": document.replace(`"DEEP"`, deep) });
  expect([procedures.map(({ name }) => name), problem]).toEqual([["post_deep", "post_chain", "post_fine"], null]);
  expect(procedures[1]?.inputSchema["properties"]).toEqual({ body: {} });
});
