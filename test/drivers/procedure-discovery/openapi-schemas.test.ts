import { expect, test } from "vitest";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

const PLAIN = `export default { fetch: () => new Response("nothing", { status: 404 }) };`;
const ok = { responses: { 200: { description: "ok" } } };

const discoverPaths = (paths: object, rest: object = {}) =>
  shared().discover(PLAIN, { files: { "openapi.json": JSON.stringify({ openapi: "3.1.0", paths, ...rest }) } });

/** Discovers one operation with this schema as its body and as its response. */
async function discoverSchema(schema: object, schemas: object = {}) {
  const content = { "application/json": { schema } };
  const responses = { 200: { content } };
  const found = await discoverPaths(
    { "/a": { post: { requestBody: { required: true, content }, responses } } },
    { components: { schemas } },
  );
  return found.procedures[0];
}

test("keywords beside a reference are merged with its target", async () => {
  const schemas = {
    Pet: {
      type: "object",
      description: "A pet",
      required: ["name"],
      properties: { name: { type: "string", maxLength: 9 } },
    },
    Name: { type: "string", description: "A name", minLength: 1 },
  };
  const procedure = await discoverSchema(
    {
      $ref: "#/components/schemas/Pet",
      required: ["age"],
      properties: {
        age: { $ref: "#/components/schemas/Name", description: "Its age", default: "1", minLength: 2 },
        name: { minLength: 3 },
      },
    },
    schemas,
  );
  expect(procedure?.inputSchema).toEqual({
    type: "object",
    properties: {
      name: { allOf: [{ type: "string", maxLength: 9 }, { minLength: 3 }] },
      age: { type: "string", description: "Its age", default: "1", minLength: 1, allOf: [{ minLength: 2 }] },
    },
    required: ["name", "age"],
    additionalProperties: false,
  });
});

test("a path and a parameter beside a reference keep both", async () => {
  const found = await discoverPaths(
    {
      "/a": {
        $ref: "#/components/pathItems/A",
        parameters: [{ $ref: "#/components/parameters/Limit", description: "How many" }],
      },
    },
    {
      components: {
        pathItems: { A: { get: ok } },
        parameters: { Limit: { name: "limit", in: "query", description: "Limit", schema: { type: "integer" } } },
      },
    },
  );
  expect(found.procedures[0]?.inputSchema["properties"]).toEqual({
    limit: { type: "integer", description: "How many" },
  });
});

test("an input has no read-only properties and an output no write-only ones, also nested and under allOf", async () => {
  const schemas = {
    Base: {
      type: "object",
      required: ["id", "secret"],
      properties: { id: { $ref: "#/components/schemas/Id" }, secret: { type: "string", writeOnly: true } },
    },
    Id: { type: "string", readOnly: true },
  };
  const base = { $ref: "#/components/schemas/Base" };
  const procedure = await discoverSchema(
    {
      allOf: [
        base,
        {
          type: "object",
          required: ["id", "secret", "list"],
          properties: {
            list: { type: "array", items: base },
            wrapped: { allOf: [{ type: "integer" }], readOnly: true },
            inAllOf: { allOf: [{ $ref: "#/components/schemas/Id" }, { description: "x" }] },
          },
        },
      ],
    },
    schemas,
  );
  const secret = { secret: { type: "string" } };
  const input = { type: "object", required: ["secret"], properties: secret };
  expect(procedure?.inputSchema["properties"]).toEqual({
    body: {
      allOf: [
        input,
        { type: "object", required: ["secret", "list"], properties: { list: { type: "array", items: input } } },
      ],
    },
  });
  const output = { type: "object", required: ["id"], properties: { id: { type: "string" } } };
  expect(procedure?.outputSchema).toMatchObject({
    allOf: [output, { required: ["id", "list"], properties: { list: { items: output }, wrapped: {}, inAllOf: {} } }],
  });
});

test("values that JSON Schema does not allow are left out of a schema", async () => {
  const procedure = await discoverSchema({
    type: "object",
    "x-internal": "a",
    properties: {
      a: { type: "file", required: true, example: 1, xml: {}, discriminator: {} },
      b: { type: "number", minimum: 1, exclusiveMinimum: true, enum: "x", examples: ["y".repeat(2000)] },
      c: { description: "d".repeat(5000), default: null },
      d: false,
      $ref: { type: "string" },
    },
  });
  expect(procedure?.inputSchema["properties"]).toEqual({
    a: {},
    b: { type: "number", exclusiveMinimum: 1 },
    c: { description: `${"d".repeat(1000)}…`, default: null },
    d: { not: {} },
    $ref: { type: "string" },
  });
});
