import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { json, text } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import type { Tenant } from "../support/service/harness.ts";
import { claudeFile, importFile } from "../support/service/import-transcript.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
/** The path of the operation whose body is streamed. */
let importPath: string;

beforeAll(async () => {
  tenant = await service().tenant();
  importPath = `/v1/agents/${await mainAgentId(tenant.rest)}/sessions/import`;
});

test("415 a file of another content type is rejected", async () => {
  const contentTypes = ["application/xml", "application/x-www-form-urlencoded", "text/plain"];
  for (const contentType of contentTypes) {
    const { status, body } = await importFile(tenant.rest, claudeFile(1), { contentType });
    expect([contentType, status, body.error]).toEqual([
      contentType,
      415,
      expect.stringContaining("Content-Type: application/x-ndjson or"),
    ]);
  }
  for (const contentType of ["application/jsonl", "Application/Octet-Stream", "application/x-ndjson; charset=utf-8"])
    expect((await importFile(tenant.rest, claudeFile(1), { contentType })).status).toBe(200);
});

test("413 a file of more than 256 MiB is rejected before it is sent", async () => {
  const socket = connect(service().service.port, "127.0.0.1");
  const lines = [
    `POST ${importPath} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${tenant.api_key}`,
    "Content-Type: application/x-ndjson",
    `Content-Length: ${256 * 1024 * 1024 + 1}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  expect(await text(socket)).toMatch(
    /^HTTP\/1.1 413 [\s\S]*connection: close[\s\S]*The request body exceeds 256 MiB\./i,
  );
});

test("fields of the path and of the query string are the input of an operation with a streamed body", async () => {
  const imported = await importFile(tenant.rest, claudeFile(2), { query: "?format=claude-code" });
  expect([imported.status, imported.body]).toMatchObject([200, { format: "claude-code", added: 2 }]);
  const rejected = await importFile(tenant.rest, claudeFile(2), { query: "?format=codex" });
  expect([rejected.status, rejected.body.error]).toEqual([400, "format: the file is a transcript of claude-code."]);
});

test("the connection stays open after an error of a request that has arrived completely", async () => {
  const headers = { authorization: `Bearer ${tenant.api_key}`, "content-type": "application/x-ndjson" };
  const post = async (path: string, body: string, type: string): Promise<unknown[]> => {
    const options = { port: service().service.port, path, method: "POST" };
    const length = Buffer.byteLength(body);
    const sent = httpRequest({ ...options, headers: { ...headers, "content-type": type, "content-length": length } });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const { error } = (await json(response)) as { error: string };
    return [response.statusCode, response.headers.connection, error];
  };
  expect(await post(importPath, "not a transcript", "application/x-ndjson")).toEqual([
    400,
    "keep-alive",
    expect.stringContaining("not a transcript"),
  ]);
  expect(await post("/v1/apps/deploy", "{}", "application/json")).toEqual([
    400,
    "keep-alive",
    expect.stringContaining("repo: "),
  ]);
});
