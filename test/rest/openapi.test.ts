import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

interface Operation {
  operationId: string;
  responses: Record<
    string,
    { content?: Record<string, { schema: { $ref?: string } }>; headers?: Record<string, unknown> }
  >;
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> };
  security?: Record<string, unknown>[];
  parameters?: { name: string }[];
}

interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, { properties: object; required: string[] }>;
    securitySchemes: Record<string, object>;
  };
}

async function readDocument(): Promise<Document> {
  const { rest } = await service().tenant();
  return (await rest.as(null).get("/v1/openapi.json")).body as unknown as Document;
}

/** The operations and fields of version 1 at its first release. Nothing is ever removed from these lists. */
const OPERATIONS = {
  "post /v1/apps/deploy": ["201 DeployResponse", "400 Error", "401 Error", "403 Error", "429 Error", "500 Error"],
  "get /v1/apps": ["200 ListAppsResponse", "401 Error", "500 Error"],
  "get /v1/apps/{id}": ["200 AppDetail", "401 Error", "404 Error"],
  "delete /v1/apps/{id}": ["200 DeleteResponse", "401 Error", "404 Error"],
  "get /v1/apps/{id}/logs": ["200 LogsResponse", "401 Error", "404 Error"],
};

const FIELDS = {
  DeployRequest: ["repo", "branch", "customization"],
  DeployResponse: ["app_id", "slug", "app_token", "url"],
  AppSummary: ["id", "name", "slug", "status", "status_message", "created_at", "updated_at", "app_token"],
  ListAppsResponse: ["apps"],
  AppDetail: [
    "id",
    "user_id",
    "org_id",
    "created_by",
    "name",
    "slug",
    "status",
    "status_message",
    "error",
    "created_at",
    "updated_at",
    "app_token",
    "manifest",
    "url",
  ],
  Manifest: ["sql_database_id", "object_bucket_name", "framework"],
  DeleteResponse: ["status"],
  LogsResponse: ["status", "status_message", "error", "logs"],
  Error: ["error"],
};

verifies(
  "versions.openapi",
  "the OpenAPI document is OpenAPI 3.1.0, has version 1.0.0, and names the public URL",
  async () => {
    const document = await readDocument();
    expect([document.openapi, document.info.version]).toEqual(["3.1.0", "1.0.0"]);
    expect(document.servers).toEqual([{ url: service().service.publicUrl }]);
  },
);

verifies(
  "rest.auth.described",
  "the OpenAPI document requires a bearer token of the format JWT for every operation",
  async () => {
    const { components, paths } = await readDocument();
    expect(components.securitySchemes).toEqual({
      bearer: expect.objectContaining({ type: "http", scheme: "bearer", bearerFormat: "JWT" }),
    });
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(operations.length).toBeGreaterThanOrEqual(Object.keys(OPERATIONS).length);
    for (const operation of operations) expect(operation.security).toEqual([{ bearer: [] }]);
  },
);

verifies(
  "versions.stable",
  "the OpenAPI document contains every operation, status and field of version 1",
  async () => {
    const { paths, components } = await readDocument();
    for (const [operation, responses] of Object.entries(OPERATIONS)) {
      const [method = "", path = ""] = operation.split(" ");
      const described = Object.entries(paths[path]?.[method]?.responses ?? {}).map(
        ([status, { content }]) => `${status} ${content?.["application/json"]?.schema.$ref?.split("/").at(-1)}`,
      );
      expect([operation, described]).toEqual([operation, expect.arrayContaining(responses)]);
    }
    for (const [name, fields] of Object.entries(FIELDS))
      expect([name, Object.keys(components.schemas[name]?.properties ?? {})]).toEqual([
        name,
        expect.arrayContaining(fields),
      ]);
  },
);

test("the OpenAPI document contains Retry-After and the body schema of a deploy", async () => {
  const deploy = (await readDocument()).paths["/v1/apps/deploy"]?.["post"];
  expect(deploy?.responses["429"]?.headers).toHaveProperty("Retry-After");
  expect(deploy?.requestBody?.content["application/json"]?.schema).toEqual({
    $ref: "#/components/schemas/DeployRequest",
  });
});

test("the OpenAPI document names the header of every operation that Idempotency-Key makes safe to repeat", async () => {
  const { paths } = await readDocument();
  const repeatable = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).some(({ parameters }) => parameters?.some(({ name }) => name === "Idempotency-Key"))
      ? [path]
      : [],
  );
  expect(repeatable.toSorted()).toEqual([
    "/v1/apps/deploy",
    "/v1/apps/import",
    "/v1/apps/{id}/deployments",
    "/v1/apps/{id}/environments",
    "/v1/apps/{id}/promote",
    "/v1/apps/{id}/rollback",
  ]);
});

test("the page with the OpenAPI document allows only its own style and script, and no request", async () => {
  const { rest } = await service().tenant();
  const page = await rest.as(null).get("/docs");
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const inline = (element: string) => {
    const [, text = ""] = new RegExp(`<${element}>(.*?)</${element}>`, "s").exec(page.text) ?? [];
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  };
  expect(page.headers.get("content-security-policy")?.split("; ")).toEqual([
    "default-src 'none'",
    `style-src ${inline("style")}`,
    `script-src ${inline("script")}`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  expect(page.text).not.toMatch(/ (src|style|on\w+)=/);
});

test("the page shows every operation with its method and path, every schema, and no link without a target", async () => {
  const { rest } = await service().tenant();
  const { text } = await rest.as(null).get("/docs");
  const { paths, components } = await readDocument();
  const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId }] of Object.entries(methods)) {
      expect(ids).toContain(operationId);
      expect(text).toContain(`<b class="${method}">${method.toUpperCase()}</b> <code>${path}</code>`);
    }
  for (const name of Object.keys(components.schemas)) expect(ids).toContain(`schema-${name}`);
  const links = [...text.matchAll(/ href="([^"]+)"/g)].map(([, link]) => link ?? "");
  expect(links.filter((link) => link.startsWith("#") && !ids.has(link.slice(1)))).toEqual([]);
  expect(new Set(links.filter((link) => !link.startsWith("#")))).toEqual(
    new Set(["/", "/icon.svg", "/v1/openapi.json"]),
  );
});

test("the page has the call of every operation as a command line, with the fields that it requires", async () => {
  const { rest } = await service().tenant();
  const { text } = await rest.as(null).get("/docs");
  const { publicUrl } = service().service;
  expect(text).toContain(
    [
      `<pre>curl -X POST &#34;${publicUrl}/v1/apps/deploy&#34; \\`,
      "  -H &#34;Authorization: Bearer $TOKEN&#34; \\",
      "  -H &#34;Content-Type: application/json&#34; \\",
      "  -d &#39;{&#34;repo&#34;:&#34;acme/site&#34;}&#39;</pre>",
    ].join("\n"),
  );
  expect(text).toContain(`curl &#34;${publicUrl}/v1/apps/$APP_ID/deployments/$DEPLOYMENT_NUMBER&#34;`);
});

test("the page and its document are sent compressed: less than a third of their size", async () => {
  const { publicUrl } = service().service;
  const paths = ["/docs", "/v1/openapi.json"];
  const load = async (path: string, encoding: string) => {
    const response = await fetch(publicUrl + path, { headers: { "accept-encoding": encoding } });
    return { response, text: await response.text() };
  };
  for (const path of paths) {
    const plain = await load(path, "br;q=0, gzip;q=0.0");
    expect([path, plain.response.headers.get("content-encoding")]).toEqual([path, null]);
    for (const [accepted, encoding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
    ] as const) {
      const { response, text } = await load(path, accepted);
      expect([path, response.headers.get("content-encoding"), text === plain.text]).toEqual([path, encoding, true]);
      expect(response.headers.get("vary")).toContain("accept-encoding");
      expect(Number(response.headers.get("content-length"))).toBeLessThan(plain.text.length / 3);
    }
  }
});

test("the health endpoints respond without a token", async () => {
  const { rest } = await service().tenant();
  expect((await rest.as(null).get("/healthz")).body).toEqual({ status: "ok" });
  expect((await rest.as(null).get("/readyz")).body).toEqual({
    status: "ready",
    details: { sandbox_limits: expect.objectContaining({ controllers: expect.any(Array) }), unavailable: [] },
  });
});

test("every response has a request id, which is that of the caller if it is safe to log", async () => {
  const { rest } = await service().tenant();
  expect((await rest.get("/v1/apps", { "x-request-id": "trace-7" })).headers.get("x-request-id")).toBe("trace-7");
  for (const path of ["/v1/apps", "/v1/nothing", "/nothing", "/docs", "/healthz"]) {
    const id = (await rest.as(null).get(path, { "x-request-id": `evil id "${"x".repeat(200)}` })).headers.get(
      "x-request-id",
    );
    expect([path, id]).toEqual([path, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  }
});
