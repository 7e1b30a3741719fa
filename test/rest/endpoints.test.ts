import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

test("405 names the methods of an endpoint, with and without a slash at the end of its path", async () => {
  const { rest } = await service().tenant();
  for (const [method, path, allowed] of [
    ["PUT", "/v1/apps", "GET, HEAD"],
    ["DELETE", "/v1/apps/", "GET, HEAD"],
    ["GET", "/v1/apps/deploy/", "POST"],
  ] as const) {
    const response = await rest.send(method, path, {});
    expect([path, response.status, response.headers.get("allow")]).toEqual([path, 405, allowed]);
    expect(response.body).toEqual({ error: `Method not allowed. This endpoint has: ${allowed}.` });
  }
});

test("a body that is JSON and no object is rejected with an example", async () => {
  const { rest } = await service().tenant();
  for (const body of ["[]", "7"]) {
    const response = await rest.send("POST", "/v1/apps/deploy", { body, headers: JSON_TYPE });
    expect([body, response.status, response.body["error"]]).toEqual([
      body,
      400,
      expect.stringContaining("The body must be a JSON object"),
    ]);
  }
});

const JSON_TYPE = { "content-type": "application/json" };

test("an operation without a required body needs no content type", async () => {
  const { rest } = await service().tenant();
  const { paths } = (await rest.get("/v1/openapi.json")).body as {
    paths: Record<string, Record<string, { requestBody?: { required: boolean } }>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      ["post", "put", "patch"].includes(method) && operation.requestBody?.required !== true
        ? [[method.toUpperCase(), path] as const]
        : [],
    ),
  );
  expect(operations).toContainEqual(["PUT", "/v1/projects/{id}/agents/{agent_id}"]);
  expect(operations).toContainEqual(["POST", "/v1/apps/{id}/rotate-token"]);
  for (const [method, path] of operations) {
    const target = path.replaceAll("{number}", "1").replaceAll(/\{\w+\}/g, randomUUID());
    const { status, body } = await rest.send(method, target, {});
    expect([path, status, body]).toEqual([path, 404, { error: expect.stringContaining("not found") }]);
  }
});

test("415 rejects another content type also without a body, and DELETE needs no body for its content type", async () => {
  const { rest } = await service().tenant();
  const headers = { "content-type": "text/plain" };
  expect((await rest.send("POST", "/v1/apps/deploy", { headers })).status).toBe(415);
  const deleted = await rest.delete(`/v1/apps/${randomUUID()}`, JSON_TYPE);
  expect([deleted.status, deleted.body]).toEqual([404, { error: "App not found" }]);
});

test("the query string is the input of GET and DELETE", async () => {
  const { rest } = await service().tenant();
  const list = await rest.get("/v1/projects?limit=0");
  expect([list.status, list.body]).toEqual([400, { error: expect.stringMatching(/^limit: /) }]);
  const removal = await rest.delete(`/v1/agents/${await mainAgentId(rest)}/workspace?folder=a`);
  expect([removal.status, removal.body]).toEqual([400, { error: 'unknown field "folder"' }]);
});

test("200 an operation without a stream ignores the parameter of those with one", async () => {
  const { rest } = await service().tenant();
  for (const query of ["?follow", "?follow=true", "?follow=maybe"])
    expect((await rest.get(`/v1/apps${query}`)).text).toBe('{"apps":[]}');
});
