import { expect, test } from "vitest";
import { z } from "zod";
import { fromValidation } from "../../routers/core/invalid-input.ts";
import type { Meta } from "../../routers/core/trpc.ts";
import { appRouter } from "../../routers/index.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

interface Procedure {
  _def: { type: string; meta?: Meta; inputs: z.ZodObject[] };
}

const PROCEDURES = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>);

/** Texts of zod, and the JSON of its errors. */
const OF_ZOD =
  /Invalid (?:input|option|string|number|key|value|UUID|URL|ISO)|Too (?:big|small)|Unrecognized key|"code": ?"(?:invalid|too)_|received undefined/;

const WRONG: unknown[] = [{}, [], 7, -1, 1.5, 1e300, true, "", "x", "x".repeat(100_000), null, [null], { a: 1 }];

/** Each field of an object with a wrong value, also in objects and arrays within it. */
function* wrongInputs(schema: z.ZodType): Generator {
  let inner: z.ZodType = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodNullable)
    inner = inner.unwrap() as z.ZodType;
  yield* WRONG;
  if (inner instanceof z.ZodArray) for (const item of wrongInputs(inner.element as z.ZodType)) yield [item];
  if (!(inner instanceof z.ZodObject)) return;
  for (const [name, field] of Object.entries(inner.shape))
    for (const value of wrongInputs(field)) yield { [name]: value };
}

test("the message of every invalid input is the service's own", () => {
  let count = 0;
  for (const [path, { _def }] of PROCEDURES)
    for (const schema of [_def.inputs[0], _def.meta?.tool?.arguments])
      for (const input of schema === undefined ? [] : wrongInputs(schema)) {
        const { error } = (schema as z.ZodType).safeParse(input);
        if (error === undefined) continue;
        count += 1;
        const { message } = fromValidation(error);
        expect([path, message]).toEqual([path, expect.not.stringMatching(OF_ZOD)]);
        expect(message.length).toBeLessThan(4000);
      }
  expect(count).toBeGreaterThan(3000);
});

test("each rule of a schema is described in words", () => {
  const describe = (schema: z.ZodType, value: unknown) => {
    const { error } = z.object({ f: schema }).safeParse({ f: value });
    return error === undefined ? null : fromValidation(error).message;
  };
  expect([
    describe(z.string(), 7),
    describe(z.int(), "7"),
    describe(z.array(z.string()), {}),
    describe(z.object({}), []),
    describe(z.boolean(), "yes"),
    describe(z.string(), undefined),
    describe(z.enum(["a", "b"]), "c"),
    describe(z.literal("a"), "c"),
    describe(z.int().min(1), 0),
    describe(z.number().gt(1).lt(3), 3),
    describe(z.string().max(2), "abc"),
    describe(z.array(z.int()).min(2), [1]),
    describe(z.uuid(), "x"),
    describe(z.string().regex(/^a$/), "b"),
    describe(z.number().multipleOf(5), 7),
    describe(z.union([z.string(), z.int()]), true),
    describe(z.string().regex(/^a$/, "must be a"), "b"),
    describe(
      z.string().refine(() => false, "is wrong"),
      "b",
    ),
  ]).toEqual([
    "f: must be a string, not number",
    "f: must be a number, not string",
    "f: must be an array, not object",
    "f: must be an object, not array",
    "f: must be true or false, not string",
    "f: missing, expected string",
    "f: must be one of: a, b",
    "f: must be a",
    "f: must be at least 1",
    "f: must be less than 3",
    "f: must have at most 2 characters",
    "f: must have at least 2 items",
    "f: must be a UUID",
    "f: must be in the format /^a$/",
    "f: must be a multiple of 5",
    "f: is not one of the accepted values",
    "f: must be a",
    "f: is wrong",
  ]);
});

test("no API returns a text of zod for arguments of wrong types", async () => {
  const { publicUrl } = service().service;
  const tenant = await service().tenant();
  const gateway = new GatewayClient(publicUrl, tenant.personal_access_token);
  const bodies: [string, string][] = [];
  for (const [path, { _def }] of PROCEDURES) {
    const names = Object.keys(_def.inputs[0]?.shape ?? {});
    const input = Object.fromEntries(names.map((name) => [name, { wrong: [name] }]));
    const headers = { authorization: `Bearer ${tenant.api_key}`, "content-type": "application/json" };
    const url = `${publicUrl}/trpc/${path}`;
    const response = await (_def.type === "query"
      ? fetch(`${url}?input=${encodeURIComponent(JSON.stringify(input))}`, { headers })
      : fetch(url, { method: "POST", headers, body: JSON.stringify(input) }));
    bodies.push([path, await response.text()]);
    const { tool, openapi } = _def.meta ?? {};
    if (tool !== undefined) bodies.push([tool.name, (await gateway.tool(tool.name, input)).text]);
    if (openapi === undefined || openapi.streamedBody !== undefined) continue;
    const { text } = await tenant.rest.send(openapi.method, openapi.path, {
      headers,
      ...(openapi.method === "GET" ? {} : { body: JSON.stringify(input) }),
    });
    bodies.push([`${openapi.method} ${openapi.path}`, text]);
  }
  expect(bodies.filter(([, text]) => OF_ZOD.test(text))).toEqual([]);
});

test.each([
  ["tools/call", { name: 7 }],
  ["tools/call", { name: "service_get_usage", arguments: "x" }],
  ["tools/call", { name: "service_get_usage", arguments: [1] }],
  ["tools/call", {}],
  ["tools/call", [1]],
  ["tools/list", { cursor: 7 }],
  ["initialize", { protocolVersion: 7 }],
  ["initialize", {}],
])("the gateway returns no text of zod for %s with wrong parameters: %o", async (method, params) => {
  const gateway = new GatewayClient(service().service.publicUrl, (await service().tenant()).personal_access_token);
  const { text, body } = await gateway.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  expect(body.error?.code).toBe(Array.isArray(params) ? -32_600 : -32_602);
  expect(text).not.toMatch(OF_ZOD);
});
