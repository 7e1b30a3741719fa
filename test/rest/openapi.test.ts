import { describe, expect, test } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

interface Operation {
  responses: Record<
    string,
    { content?: Record<string, { schema: { $ref?: string } }>; headers?: Record<string, unknown> }
  >;
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> };
  security?: Record<string, unknown>[];
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

async function description(): Promise<Document> {
  const { rest } = await service().tenant();
  return (await rest.as(null).get("/v1/openapi.json")).body as unknown as Document;
}

/** What version 1 promised when it was first released. Nothing is ever taken out of this list. */
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
    ...["id", "user_id", "org_id", "created_by", "name", "slug", "status", "status_message", "error"],
    ...["created_at", "updated_at", "app_token", "manifest", "url"],
  ],
  Manifest: ["sql_database_id", "object_bucket_name", "framework"],
  DeleteResponse: ["status"],
  LogsResponse: ["status", "status_message", "error", "logs"],
  Error: ["error"],
};

describe("the description of the interface", () => {
  verifies("versions.openapi", "is OpenAPI 3.1.0 of version 1.0.0, and names the address it was asked at", async () => {
    const document = await description();
    expect([document.openapi, document.info.version]).toEqual(["3.1.0", "1.0.0"]);
    expect(document.servers).toEqual([{ url: service().service.publicUrl }]);
  });

  verifies("rest.auth.described", "asks for a bearer token of the format JWT on every operation", async () => {
    const { components, paths } = await description();
    expect(components.securitySchemes).toEqual({
      bearer: expect.objectContaining({ type: "http", scheme: "bearer", bearerFormat: "JWT" }),
    });
    for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
      expect(operation.security).toEqual([{ bearer: [] }]);
  });

  verifies("versions.stable", "still has every operation, status and field of version 1", async () => {
    const { paths, components } = await description();
    for (const [operation, answers] of Object.entries(OPERATIONS)) {
      const [method = "", path = ""] = operation.split(" ");
      const described = Object.entries(paths[path]?.[method]?.responses ?? {}).map(
        ([status, { content }]) => `${status} ${content?.["application/json"]?.schema.$ref?.split("/").at(-1)}`,
      );
      expect([operation, described]).toEqual([operation, expect.arrayContaining(answers)]);
    }
    for (const [name, fields] of Object.entries(FIELDS))
      expect([name, Object.keys(components.schemas[name]?.properties ?? {})]).toEqual([
        name,
        expect.arrayContaining(fields),
      ]);
  });

  test("says what a limited call carries, and names the body of a deploy", async () => {
    const deploy = (await description()).paths["/v1/apps/deploy"]?.["post"];
    expect(deploy?.responses["429"]?.headers).toHaveProperty("Retry-After");
    expect(deploy?.requestBody?.content["application/json"]?.schema).toEqual({
      $ref: "#/components/schemas/DeployRequest",
    });
  });

  test("is rendered as a page that needs nothing from elsewhere", async () => {
    const { rest } = await service().tenant();
    const page = await rest.as(null).get("/docs");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? "");
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect([part, (await rest.as(null).get(part)).status]).toEqual([part, 200]);
  });
});

describe("the service's health", () => {
  test("is told without a token", async () => {
    const { rest } = await service().tenant();
    expect((await rest.as(null).get("/healthz")).body).toEqual({ status: "ok" });
    expect((await rest.as(null).get("/readyz")).body).toEqual({ status: "ready" });
  });
});

describe("a request id", () => {
  test("is on every answer, the caller's own when it is harmless", async () => {
    const { rest } = await service().tenant();
    expect((await rest.get("/v1/apps", { "x-request-id": "trace-7" })).headers.get("x-request-id")).toBe("trace-7");
    for (const path of ["/v1/apps", "/v1/nothing", "/nothing", "/docs", "/healthz"]) {
      const given = (await rest.as(null).get(path, { "x-request-id": `evil id "${"x".repeat(200)}` })).headers.get(
        "x-request-id",
      );
      expect([path, given]).toEqual([path, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    }
  });
});
