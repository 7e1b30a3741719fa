import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { Content } from "../../support/builds/bundle-checkout.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

const PLAIN = `export default { fetch: () => new Response("nothing", { status: 404 }) };`;
const ok = { responses: { 200: { description: "ok" } } };
const names = (found: { procedures: { name: string }[] }) => found.procedures.map(({ name }) => name);

const discoverIn = (files: Record<string, Content>) => shared().discover(PLAIN, { files });
const body = (schema: object, type = "application/json") => ({
  ...ok,
  requestBody: { required: true, content: { [type]: { schema } } },
});

test("a byte order mark and UTF-16 are read", async () => {
  const json = JSON.stringify({ openapi: "3.0.3", paths: { "/a": { get: ok } } });
  const yaml = "openapi: 3.0.3\npaths:\n  /a:\n    get:\n";
  const utf16 = Buffer.from(`\ufeff${json}`, "utf16le");
  const checkouts: Record<string, Content>[] = [
    { "openapi.json": `\ufeff${json}` },
    { "openapi.yaml": `\ufeff${yaml}` },
    { "openapi.json": utf16 },
    { "openapi.json": Buffer.from(utf16).swap16() },
  ];
  for (const files of checkouts) expect(names(await discoverIn(files))).toEqual(["get_a"]);
});

test("a document that the app serves may start with a byte order mark", async () => {
  const document = `\ufeff${JSON.stringify({ openapi: "3.1.0", paths: { "/a": { get: ok } } })}`;
  const found = await shared().discover(
    `export default { fetch: (request) => new URL(request.url).pathname === "/openapi.json"
      ? new Response(${JSON.stringify(document)}) : new Response("", { status: 404 }) };`,
  );
  expect(names(found)).toEqual(["get_a"]);
});

test("keys of YAML without a value, unquoted versions and merge keys keep every operation", async () => {
  const found = await discoverIn({
    "openapi.yaml": `
openapi: 3.1
info: {title: T, version: 1.0}
servers:
tags:
x-shared: &shared
  summary: Shared
components:
  schemas:
paths:
  /empty:
    parameters:
    get:
      operationId: empty
      summary:
      description:
      parameters:
      requestBody:
      responses:
    post:
  /numbers:
    get:
      <<: *shared
      operationId: 42
      parameters:
        - {name: 1, in: query, required:, schema: {type: [integer, null], enum:, description:}}
  /nothing:
`,
  });
  expect([names(found), found.problem]).toEqual([["empty", "post_empty", "42"], null]);
  expect(found.procedures[2]).toMatchObject({
    description: "Shared",
    inputSchema: { properties: { 1: { type: ["integer", "null"] } } },
  });
});

test.each(["3.0", "3.0.4", "3.1", "3.2.0", "'3.1.0'"])("the version %s is accepted in YAML", async (version) => {
  expect(names(await discoverIn({ "openapi.yml": `openapi: ${version}\npaths: {/a: {get: {}}}` }))).toEqual(["get_a"]);
});

test("a problem says which document is not OpenAPI 3, and why", async () => {
  const json = await discoverIn({ "openapi.json": `{"swagger":"2.0","paths":{"/a":{"get":{}}}}` });
  expect(json).toEqual({
    procedures: [],
    problem: expect.stringMatching(/openapi\.json is a Swagger 2\.0 document.*3/),
  });
  const yaml = await discoverIn({ "docs/openapi.yaml": "swagger: 2.0\n" });
  expect(yaml.problem).toContain("docs/openapi.yaml is a Swagger 2.0 document");
  const other = await discoverIn({ "openapi.json": `{"openapi":"4.0"}` });
  expect(other.problem).toContain('must have the key "openapi"');
  expect((await discoverIn({ "openapi.yaml": "a: [" })).problem).toBe("openapi.yaml cannot be parsed.");
});

test("references to other files of the repository are read, with references in these files", async () => {
  const pet = {
    definitions: {
      Pet: { type: "object", properties: { name: { type: "string" }, tag: { $ref: "./more/my%20tag.yaml" } } },
    },
  };
  const found = await discoverIn({
    "docs/openapi.yaml": `
openapi: 3.1.0
paths:
  /pets: {$ref: paths/pets.yaml}
  /one: {$ref: "paths/pets.yaml#/~1unused"}
`,
    "docs/paths/pets.yaml": `
parameters: [{$ref: "../openapi.yaml#/none"}, {$ref: "../parameters.json#/Limit"}]
post:
  operationId: addPet
  requestBody: {required: true, content: {application/json: {schema: {$ref: "../../schemas/pet.json#/definitions/Pet"}}}}
`,
    "docs/parameters.json": JSON.stringify({
      Limit: { name: "limit", in: "query", schema: { $ref: "#/Type" } },
      Type: { type: "integer" },
    }),
    "schemas/pet.json": JSON.stringify(pet),
    "schemas/more/my tag.yaml": "type: string\n",
  });
  expect(found.procedures.map(({ name, inputSchema }) => [name, inputSchema["properties"]])).toEqual([
    ["addPet", { limit: { type: "integer" }, name: { type: "string" }, tag: { type: "string" } }],
  ]);
  expect(found.problem).toContain('"docs/paths/pets.yaml#/~1unused"');
});

test("no reference leads out of the repository, and each that leads nowhere is named", async () => {
  await using outside = await temporaryFolder();
  await writeFile(path.join(outside.path, "a.json"), `{"type":"string"}`);
  const targets = [
    `${outside.path}/a.json`,
    `..${outside.path}/a.json`.replace("..", "../../../../../../../.."),
    "../../outside.json",
    "link/a.json",
    "link.json",
    "file:///etc/a.json",
    "package.txt",
  ];
  const schemas = [...targets, "https://elsewhere.example/a.json#/A", "//elsewhere.example/b.json"];
  const parameters = schemas.map(($ref, at) => ({ name: `p${at}`, in: "query", schema: { $ref } }));
  const found = await discoverIn({
    "openapi.json": JSON.stringify({ openapi: "3.1.0", paths: { "/a": { get: { ...ok, parameters } } } }),
    "link.json": { link: path.join(outside.path, "a.json") },
    link: { link: outside.path },
    "package.txt": `{"type":"string"}`,
  });
  const properties = found.procedures[0]?.inputSchema["properties"] ?? {};
  expect(Object.values(properties)).toEqual(schemas.map(() => ({})));
  expect(found.problem).toMatch(/These references lead nowhere.*References to other hosts are not followed.*elsewhere/);
});

test("files that refer to each other are read once, and a schema in a circle accepts any value", async () => {
  const file = (next: string) => JSON.stringify({ type: "object", properties: { next: { $ref: next } } });
  const found = await discoverIn({
    "openapi.json": JSON.stringify({ openapi: "3.1.0", paths: { "/a": { post: body({ $ref: "a.json" }) } } }),
    "a.json": file("b.json"),
    "b.json": file("./a.json#"),
  });
  expect(found.procedures[0]?.inputSchema["properties"]).toEqual({
    next: { type: "object", properties: { next: {} } },
  });
});

test("YAML that contains itself, or a value many times, is read within bounds", async () => {
  const bomb = Array.from({ length: 30 }, (_, at) => `  - &a${at + 1} [${Array(10).fill(`*a${at}`).join(",")}]`);
  const found = await discoverIn({
    "openapi.yaml": `
openapi: 3.1.0
x-bomb:
  - &a0 [x]
${bomb.join("\n")}
x-circle: &circle
  type: object
  properties: {inner: *circle}
paths:
  /bomb: {post: {requestBody: {required: true, content: {application/json: {schema: {type: string, default: *a30}}}}}}
  /circle: {post: {requestBody: {required: true, content: {application/json: {schema: *circle}}}}}
`,
  });
  expect([names(found), found.problem]).toEqual([["post_bomb", "post_circle"], null]);
  expect(found.procedures[0]?.inputSchema["properties"]).toEqual({ body: { type: "string" } });
});
