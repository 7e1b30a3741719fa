import { expect, test } from "vitest";
import { DISCOVERY_CAPS, type DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

const PLAIN = `export default { fetch: () => new Response("nothing", { status: 404 }) };`;
const ok = { responses: { 200: { description: "ok" } } };

const discoverPaths = (paths: object, rest: object = {}) =>
  shared().discover(PLAIN, { files: { "openapi.json": JSON.stringify({ openapi: "3.0.3", paths, ...rest }) } });

const withBody = (content: object, required = true) => ({ ...ok, requestBody: { required, content } });

function getInvocation(procedure: DiscoveredProcedure | undefined) {
  if (procedure?.invocation.via !== "openapi") throw new Error("not an operation of OpenAPI");
  return procedure.invocation;
}

test("the style of each parameter, and the encoding of each field of a form, are stored as far as they are not the default", async () => {
  const parameters = [
    { name: "a", in: "query", style: "form", explode: false },
    { name: "b", in: "query", style: "deepObject" },
    { name: "c", in: "query", style: "pipeDelimited", allowReserved: true },
    { name: "d", in: "query", content: { "application/json": { schema: { type: "object" } } } },
    { name: "e", in: "header", explode: true },
    { name: "f", in: "cookie" },
    { name: "g", in: "path", style: "matrix" },
    { name: "h", in: "query", style: "unknown" },
  ];
  const form = {
    schema: { type: "object", properties: { x: {}, y: {}, z: {} } },
    encoding: { x: { style: "deepObject", explode: true }, y: { contentType: "application/json" }, z: null },
  };
  const operation = { ...withBody({ "application/x-www-form-urlencoded": form }), parameters };
  const { procedures } = await discoverPaths({ "/a/{g}": { post: operation } });
  expect(getInvocation(procedures[0])).toEqual({
    via: "openapi",
    method: "POST",
    path: "/a/{g}",
    parameters: [
      { name: "a", in: "query", property: "a", explode: false },
      { name: "b", in: "query", property: "b", explode: true, style: "deepObject" },
      { name: "c", in: "query", property: "c", explode: false, style: "pipeDelimited", allowReserved: true },
      { name: "d", in: "query", property: "d", explode: true, isJson: true },
      { name: "e", in: "header", property: "e", explode: true },
      { name: "f", in: "cookie", property: "f", explode: true },
      { name: "g", in: "path", property: "g", explode: false, style: "matrix" },
      { name: "h", in: "query", property: "h", explode: true },
    ],
    body: {
      contentType: "application/x-www-form-urlencoded",
      property: null,
      fields: [
        { name: "x", style: "deepObject", explode: true },
        { name: "y", contentType: "application/json" },
      ],
    },
    required: ["g"],
  });
  expect(procedures[0]?.inputSchema["properties"]).toMatchObject({ d: { type: "object" } });
});

test.each<[string, object, string]>([
  ["an absolute URL", { url: "https://a.example/v1/" }, "/v1/p"],
  ["a relative URL", { url: "v1" }, "/v1/p"],
  ["the root", { url: "/" }, "/p"],
  [
    "defaults",
    {
      url: "{scheme}://{host}/{v}",
      variables: { scheme: { default: "http" }, host: { default: "h" }, v: { default: 2 } },
    },
    "/2/p",
  ],
  [
    "the first value of a variable without a default",
    { url: "/{v}", variables: { v: { enum: ["v1", "v2"] } } },
    "/v1/p",
  ],
  ["a host without a default", { url: "https://{host}:{port}/v1" }, "/v1/p"],
])("a server with %s gives the base path", async (_kind, server, path) => {
  const { procedures } = await discoverPaths({ "/p": { get: ok } }, { servers: [server] });
  expect(getInvocation(procedures[0]).path).toBe(path);
});

test("the servers of an operation replace those of its path, and those the ones of the document", async () => {
  const { procedures, problem } = await discoverPaths(
    {
      "/p": { servers: [{ url: "/path" }], get: ok, post: { ...ok, servers: [{ url: "/operation" }] } },
      "/q": { get: ok, put: { ...ok, servers: [{ url: "/{unknown}" }] } },
    },
    { servers: [{ url: "/document" }] },
  );
  expect(procedures.map((procedure) => getInvocation(procedure).path)).toEqual([
    "/path/p",
    "/operation/p",
    "/document/q",
  ]);
  expect(problem).toBe('Left out 1: "PUT /q" (the URL of its server has a variable without a default).');
});

test("every operation that is left out is counted, the first ten are named with reasons, and the log names all", async () => {
  const file = {
    "multipart/form-data": {
      schema: { type: "object", required: ["f"], properties: { f: { type: "string", format: "binary" } } },
    },
  };
  const { procedures, problem, leftOut } = await discoverPaths({
    "/a": { get: ok, head: ok, options: ok, trace: ok },
    "/b": {
      post: withBody({ "image/png": {} }),
      put: withBody(file),
      patch: "x",
      delete: { ...ok, parameters: [{ in: "body", name: "b", required: true }] },
    },
    "/c\\d": { get: ok },
    ...Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`/h${at}`, { head: ok }])),
  });
  expect(procedures.map(({ name }) => name)).toEqual(["get_a"]);
  expect(problem).toBe(
    'Left out 14: "HEAD /a", "OPTIONS /a", "TRACE /a", "HEAD /h0", "HEAD /h1" (agents cannot use this method);' +
      ' "POST /b" (it requires a body of type "image/png", which is neither JSON, a form, nor text);' +
      ' "PUT /b" (it requires a file, which agents cannot send);' +
      ' "PATCH /b" (its description is not an object);' +
      ' "DELETE /b" (one of its required parameters is not valid);' +
      ' "GET /c\\\\d" (its path has an unsupported form) and 4 more. The build log lists all.',
  );
  expect(leftOut).toHaveLength(14);
  expect(leftOut).toContain('Left out "HEAD /h5": agents cannot use this method.');
});

test("operations beyond the cap on procedures are counted and named", async () => {
  const count = DISCOVERY_CAPS.procedures + 30;
  const { procedures, problem, leftOut } = await discoverPaths(
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`/p${at}`, { get: ok }])),
  );
  expect(procedures).toHaveLength(DISCOVERY_CAPS.procedures);
  expect(problem).toMatch(/^Left out 30: "GET \/p2000", .*at most 2000 procedures\) and 20 more/);
  expect(leftOut).toHaveLength(30);
});

test("an operation with more than a hundred parameters keeps all of them", async () => {
  const parameters = Array.from({ length: 300 }, (_, at) => ({ name: `p${at}`, in: "query", required: at === 299 }));
  const { procedures } = await discoverPaths({ "/a": { get: { ...ok, parameters } } });
  expect(Object.keys(procedures[0]?.inputSchema["properties"] ?? {})).toHaveLength(300);
  expect(procedures[0]?.inputSchema["required"]).toEqual(["p299"]);
});

test("names in other scripts are transliterated, and a text without letters is named by method and path", async () => {
  const { procedures } = await discoverPaths({
    "/a": {
      get: { ...ok, operationId: "größe.lesen" },
      post: { ...ok, operationId: "получитьСписок" },
      put: { ...ok, operationId: "获取用户" },
      delete: { ...ok, operationId: "___" },
    },
    "/ä/{ö}": { get: ok },
    "/": { get: ok, post: { ...ok, operationId: "x".repeat(300) }, put: { ...ok, operationId: "x".repeat(300) } },
  });
  expect(procedures.map(({ name }) => name)).toEqual([
    "grosse.lesen",
    "poluchitSpisok",
    "HuoQuYongHu",
    "delete_a",
    "get_a_o",
    "get_root",
    "x".repeat(200),
    `${"x".repeat(198)}_2`,
  ]);
  expect(getInvocation(procedures[4]).path).toBe("/%C3%A4/{ö}");
});

test.each<[string, string[], string]>([
  ["JSON", ["application/xml", "application/json; charset=utf-8"], "application/json"],
  ["any type", ["*/*"], "application/json"],
  ["a type of JSON", ["application/json-patch+json", "application/merge-patch+json"], "application/merge-patch+json"],
  ["JSON Patch alone", ["application/json-patch+json"], "application/json-patch+json"],
  ["a form", ["multipart/form-data", "application/x-www-form-urlencoded"], "application/x-www-form-urlencoded"],
  ["a multipart form", ["image/png", "multipart/form-data"], "multipart/form-data"],
  ["text", ["text/csv"], "text/csv"],
  ["XML", ["application/xml"], "application/xml"],
])("of the types of a body, %s is sent", async (_kind, types, contentType) => {
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: "string" } }]));
  const { procedures } = await discoverPaths({ "/a": { post: withBody(content) } });
  expect(getInvocation(procedures[0]).body?.contentType).toBe(contentType);
});

test("an optional file is not part of a form, and an optional body of another type is left out", async () => {
  const schema = {
    type: "object",
    properties: {
      title: { type: "string" },
      files: { type: "array", items: { type: "string", format: "binary" } },
      cover: {},
    },
  };
  const { procedures, problem } = await discoverPaths({
    "/a": {
      post: withBody({
        "multipart/form-data": { schema, encoding: { cover: { contentType: "image/png, image/jpeg" } } },
      }),
    },
    "/b": { post: withBody({ "application/pdf": {} }, false) },
  });
  expect(procedures.map(({ inputSchema }) => inputSchema["properties"])).toEqual([{ title: { type: "string" } }, {}]);
  expect([getInvocation(procedures[1]).body, problem]).toEqual([null, null]);
});

test("large schemas lose their deepest levels, so that all operations of a large document are offered", async () => {
  const level = (name: string, next: object) => ({
    type: "object",
    description: "d".repeat(200),
    properties: Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`${name}${at}`, next])),
  });
  const schemas = {
    A: level("a", { $ref: "#/components/schemas/B" }),
    B: level("b", { $ref: "#/components/schemas/C" }),
    C: level("c", { $ref: "#/components/schemas/D" }),
    D: level("d", { type: "string", description: "x".repeat(500) }),
  };
  const schema = { $ref: "#/components/schemas/A" };
  const operation = {
    ...withBody({ "application/json": { schema } }),
    responses: { 200: { content: { "application/json": { schema } } } },
  };
  const { procedures, problem } = await discoverPaths(
    Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`/p${at}`, { post: operation }])),
    { components: { schemas } },
  );
  expect([procedures.length, problem]).toEqual([300, null]);
  const sizes = procedures.map(({ inputSchema, outputSchema }) => JSON.stringify([inputSchema, outputSchema]).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(DISCOVERY_CAPS.totalBytes);
  expect(procedures[299]?.inputSchema).toMatchObject({
    properties: { a7: { properties: { b7: { type: "object" } } } },
  });
});
