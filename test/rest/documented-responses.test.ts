import { randomBytes, randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { formatToken } from "../../domain/tokens/token-format.ts";
import type { HttpResponse, RestClient } from "../support/clients/rest-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });

interface DocumentedResponse {
  headers: Record<string, object>;
  content: Record<string, { schema: Schema }>;
}

interface Operation {
  method: string;
  path: string;
  responses: Record<string, DocumentedResponse>;
}

interface Schema {
  $ref?: string;
  additionalProperties?: unknown;
  default?: unknown;
  description?: string;
  properties?: Record<string, Schema>;
}

interface Document {
  paths: Record<string, Record<string, Omit<Operation, "method" | "path">>>;
  components: { schemas: Record<string, Schema> };
}

let document: Document;
let operations: Operation[];
let rest: RestClient;

beforeAll(async () => {
  ({ rest } = await service().tenant());
  document = (await rest.get("/v1/openapi.json")).body as unknown as Document;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({ method: method.toUpperCase(), path, responses })),
  );
});

/** Replaces the path parameters, all of which are ids. */
const pathOf = ({ path }: Operation, id: string = randomUUID()) => path.replaceAll(/\{\w+\}/g, id);

const json = { "content-type": "application/json" };

/** Sends a request to each of the operations, and checks that the document describes the response. */
async function expectDocumented(
  status: number,
  send: (operation: Operation) => Promise<HttpResponse>,
  tested: readonly Operation[] = operations,
): Promise<HttpResponse[]> {
  expect(tested.length).toBeGreaterThan(3);
  const answers: HttpResponse[] = [];
  for (const operation of tested) {
    const name = `${operation.method} ${operation.path}`;
    const answer = await send(operation);
    expect([name, answer.status, answer.body]).toEqual([name, status, { error: expect.any(String) }]);
    const documented = operation.responses[status];
    expect([name, documented?.content["application/json"]?.schema]).toEqual([
      name,
      { $ref: "#/components/schemas/Error" },
    ]);
    const headers = Object.keys(documented?.headers ?? {});
    expect([name, headers]).toEqual([name, expect.arrayContaining(["X-Request-Id"])]);
    for (const header of headers) expect([name, header, answer.headers.has(header)]).toEqual([name, header, true]);
    answers.push(answer);
  }
  return answers;
}

/** A method that the path does not have. */
const unusedMethod = ({ path }: Operation) =>
  /\/((variables|skills)\/\{name\}|agents\/\{agent_id\}|instructions|runtime|push-deploy)$/.test(path)
    ? "PATCH"
    : "PUT";

const canHaveBody = ({ method }: Operation) => method !== "GET";

/** Without the import of transcripts and the upload of archives, whose body is a file: import-limits.test.ts, archives.test.ts. */
const canHaveJson = (operation: Operation) => canHaveBody(operation) && !/\/(import|archives)$/.test(operation.path);

verifies("rest.auth.401.missing", "401 is documented for every operation", async () => {
  await expectDocumented(401, (operation) => rest.as(null).send(operation.method, pathOf(operation), {}));
});

test("403 is documented for every operation, and returned to a user without an organization", async () => {
  const { publicUrl } = service().service;
  await new TestUser(publicUrl).signUp();
  const user = new TestUser(publicUrl);
  await user.signUp();
  const homeless = rest.as(await user.accessToken());
  const answers = await expectDocumented(403, (operation) => homeless.send(operation.method, pathOf(operation), {}));
  expect(answers[0]?.body).toEqual({ error: expect.stringContaining("not a member of any organization") });
});

test("400 is documented for every operation whose URL or body can be malformed", async () => {
  const withId = operations.filter(({ path }) => path.includes("{"));
  await expectDocumented(400, (operation) => rest.send(operation.method, pathOf(operation, "%E0%A4%A"), {}), withId);
  const withBody = operations.filter(canHaveJson);
  await expectDocumented(
    400,
    (operation) => rest.send(operation.method, pathOf(operation), { body: "{", headers: json }),
    withBody,
  );
});

test("413 and 415 are documented for every operation that reads a body", async () => {
  // The other tests use up most of the attempts to deploy, and each of the two loops three.
  const [{ rest: fresh }, { rest: other }] = [await service().tenant(), await service().tenant()];
  const bodies = [300 * 1024, 8 * 1024 * 1024, 28 * 1024 * 1024].map((size) =>
    JSON.stringify({ repo: "acme/site", customization: "x".repeat(size) }),
  );
  const sizeOf = ({ method, path }: Operation) => {
    if (/^\/v1\/(knowledge|projects\/\{id\})\/(documents(\/\{\w+\})?|archives)$/.test(path)) return 2;
    if (path === "/v1/skills/{name}") return 2;
    const large = ["POST /v1/apps/deploy", "POST /v1/apps/{id}/deployments", "POST /v1/sessions/{id}/entries"];
    return large.includes(`${method} ${path}`) ? 1 : 0;
  };
  const bodyOf = (operation: Operation) => bodies[sizeOf(operation)];
  const withBody = operations.filter(canHaveBody);
  await expectDocumented(
    413,
    (operation) => fresh.send(operation.method, pathOf(operation), { body: bodyOf(operation) ?? "", headers: json }),
    withBody.filter(canHaveJson),
  );
  const text = { body: "repo=acme/site", headers: { "content-type": "text/plain" } };
  await expectDocumented(415, (operation) => other.send(operation.method, pathOf(operation), text), withBody);
});

test("405 is documented for every operation, and lists the methods of the path in Allow", async () => {
  const text = { body: "repo=acme/site", headers: { "content-type": "text/plain" } };
  const answers = await expectDocumented(405, (operation) =>
    rest.send(unusedMethod(operation), pathOf(operation), text),
  );
  const allowed = operations.map(({ path }, at) => [path, answers[at]?.headers.get("allow")]);
  expect(Object.fromEntries(allowed)).toMatchObject({
    "/v1/apps": "GET, HEAD",
    "/v1/apps/deploy": "POST",
    "/v1/apps/{id}": "GET, HEAD, PATCH, DELETE",
    "/v1/tokens": "POST, GET, HEAD",
  });
  expect((await rest.send("OPTIONS", "/v1/apps/", {})).headers.get("allow")).toBe("GET, HEAD");
  expect((await rest.as(null).send("PUT", "/v1/apps", text)).status).toBe(401);
  expect((await rest.send("PUT", "/v1/nothing", text)).status).toBe(404);
});

test("200 HEAD has the status and headers of GET, without a body", async () => {
  const get = await rest.get("/v1/apps");
  const head = await rest.send("HEAD", "/v1/apps", {});
  expect([head.status, head.text]).toEqual([200, ""]);
  for (const header of ["content-length", "content-type"])
    expect([header, head.headers.get(header)]).toEqual([header, get.headers.get(header)]);
  expect((await rest.send("HEAD", `/v1/apps/${randomUUID()}`, {})).status).toBe(404);
  expect((await rest.as(null).send("HEAD", "/v1/apps", {})).status).toBe(401);
});

verifies("versions.stable", "responses accept unknown fields, and request bodies do not", () => {
  const requests = [
    "AddArchiveRequest",
    "AddDocumentRequest",
    "AddKnowledgeSourceRequest",
    "CreateAgentRequest",
    "CreateProjectRequest",
    "CreateServerRequest",
    "DeployRequest",
    "IssueTokenRequest",
    "UpdateOrganizationRequest",
  ];
  const closed = Object.entries(document.components.schemas).filter(([, schema]) =>
    JSON.stringify(schema).includes('"additionalProperties":false'),
  );
  expect(closed.map(([name]) => name).toSorted()).toEqual(requests);
  expect(JSON.stringify(operations.map(({ responses }) => responses))).not.toContain("additionalProperties");
});

test("a default value of a request body is in its description, since generators make fields with `default` required", () => {
  const { branch } = document.components.schemas["DeployRequest"]?.properties ?? {};
  expect(branch).toEqual({
    type: "string",
    description: "The branch to deploy; default `main`, or the repository's default branch if it has no `main`",
  });
  expect(JSON.stringify(document)).not.toContain('"default":');
});

test("429 and 503 are documented for every operation, with Retry-After", async () => {
  for (const { responses } of operations)
    for (const status of ["429", "503"]) expect(responses[status]?.headers).toHaveProperty("Retry-After");
  const unknownToken = () => formatToken("svk", randomBytes(32));
  for (let n = 0; n < 60; n++) await rest.as(unknownToken()).get("/v1/apps");
  await expectDocumented(429, (operation) => rest.as(unknownToken()).send(operation.method, pathOf(operation), {}));
});
