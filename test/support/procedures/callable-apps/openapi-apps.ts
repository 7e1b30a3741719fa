import type { CallableApp } from "./callable-app.ts";

/** Responds with the request as it arrived. */
const ECHO = `export default {
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const sent = Object.fromEntries([...request.headers].filter(([name]) => /^(cookie|x-name)$/.test(name)));
    return Response.json({ request: request.method + " " + decodeURIComponent(pathname + search), ...sent, body: await request.text() });
  },
};`;

interface OperationOptions {
  parameters?: object[];
  requestBody?: object;
}

/** An operation that says nothing about its responses. */
const operation = (operationId: string, options: OperationOptions = {}) => ({
  operationId,
  responses: { 200: { description: "ok" } },
  ...options,
});

/** An app that echoes requests, with an OpenAPI document. */
function openApiApp(paths: object, { script = ECHO, servers }: { script?: string; servers?: object[] } = {}) {
  const document = { openapi: "3.1.0", info: { title: "Echo", version: "1" }, paths, servers };
  return { "index.js": script, "openapi.json": JSON.stringify(document) };
}

const LIST = { type: "array", items: { type: "string" } };
const query = (name: string, schema: object, style: object) => ({ name, in: "query", schema, ...style });
const bodyOf = (type: string, schema: object) => ({ required: true, content: { [type]: { schema } } });

export const OPENAPI_APPS: CallableApp[] = [
  {
    what: "OpenAPI parameters of all places and styles",
    name: "openapi-parameters",
    files: openApiApp({
      "/search": {
        get: operation("search", {
          parameters: [
            query("tags", LIST, { explode: false }),
            query("ids", LIST, { style: "pipeDelimited", explode: false }),
            query("filter[name]", { type: "string" }, {}),
            query("range", { type: "object", properties: { min: { type: "integer" } } }, { style: "deepObject" }),
          ],
        }),
      },
      "/items/{ids}": {
        get: operation("items", { parameters: [{ name: "ids", in: "path", required: true, schema: LIST }] }),
      },
      "/users/{id}": { delete: operation("remove") },
      "/greet": {
        get: operation("greet", {
          parameters: [
            { name: "X-Name", in: "header", schema: { type: "string" } },
            { name: "session", in: "cookie", schema: { type: "string" } },
          ],
        }),
      },
    }),
    calls: [
      {
        procedure: "search",
        input: `{ tags: ["a", "b"], ids: ["1", "2"], "filter[name]": "x", range: { min: 1 } }`,
        args: { tags: ["a", "b"], ids: ["1", "2"], filter_name: "x", range: { min: 1 } },
        output: { request: "GET /search?tags=a,b&ids=1|2&filter[name]=x&range[min]=1", body: "" },
      },
      {
        procedure: "items",
        input: `{ ids: new Set(["1", "2"]) }`,
        args: { ids: ["1", "2"] },
        output: { request: "GET /items/1,2", body: "" },
      },
      {
        procedure: "remove",
        input: `{ id: "a/b" }`,
        args: { id: "a/b" },
        output: { request: "DELETE /users/a/b", body: "" },
      },
      {
        procedure: "greet",
        input: `{ "X-Name": "Zoë", session: "s 1" }`,
        args: { "X-Name": "Zoë", session: "s 1" },
        output: { request: "GET /greet", "x-name": "Zoë", cookie: "session=s%201", body: "" },
      },
    ],
  },
  {
    what: "OpenAPI bodies, a path prefix with variables, and properties that a client only reads",
    name: "openapi-bodies",
    files: openApiApp(
      {
        "/form": {
          post: operation("form", {
            requestBody: bodyOf("application/x-www-form-urlencoded", { type: "object", properties: { tags: LIST } }),
          }),
        },
        "/users": {
          post: operation("create", {
            requestBody: bodyOf("application/json", {
              type: "object",
              required: ["id", "name"],
              properties: { id: { type: "string", readOnly: true }, name: { type: "string" } },
            }),
          }),
        },
        "/raw": { put: operation("raw", { requestBody: bodyOf("text/plain", { type: "string" }) }) },
        "/union": {
          post: operation("union", {
            requestBody: bodyOf("application/json", {
              oneOf: [
                { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
                { type: "array", items: { type: "integer" } },
              ],
            }),
          }),
        },
      },
      {
        servers: [
          {
            url: "https://{tenant}.example.com/{version}",
            variables: { tenant: { default: "acme" }, version: { default: "v2" } },
          },
        ],
      },
    ),
    calls: [
      {
        procedure: "form",
        input: `{ tags: ["a", "b"] }`,
        args: { tags: ["a", "b"] },
        output: { request: "POST /v2/form", body: "tags=a&tags=b" },
      },
      {
        procedure: "create",
        input: `{ name: "Ada" }`,
        args: { name: "Ada" },
        output: { request: "POST /v2/users", body: '{"name":"Ada"}' },
      },
      {
        procedure: "raw",
        input: `{ body: "text" }`,
        args: { body: "text" },
        output: { request: "PUT /v2/raw", body: "text" },
      },
      {
        procedure: "union",
        input: "{ body: [1, 2] }",
        args: { body: [1, 2] },
        output: { request: "POST /v2/union", body: "[1,2]" },
      },
    ],
  },
  {
    what: "OpenAPI responses that are no objects, a redirect, and names in other scripts",
    name: "openapi-responses",
    files: openApiApp(
      {
        "/true": { get: operation("isTrue") },
        "/null": { get: operation("nothing") },
        "/text": { get: operation("получить") },
        "/moved": { get: operation("moved") },
      },
      {
        script: `export default {
          fetch(request) {
            const { pathname } = new URL(request.url);
            if (pathname === "/moved") return Response.redirect(new URL("/text", request.url).href, 302);
            return Response.json({ "/true": true, "/text": "abc" }[pathname] ?? null);
          },
        };`,
      },
    ),
    calls: [
      { procedure: "isTrue", input: "", args: {}, output: true },
      { procedure: "nothing", input: "", args: {}, output: null },
      { procedure: "poluchit", input: "", args: {}, output: "abc" },
      { procedure: "moved", input: "", args: {}, output: "abc" },
    ],
  },
];
