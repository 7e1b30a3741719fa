import { readdir } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Session } from "../../domain/sessions/session.entity.ts";
import type { Tenant } from "../support/service/harness.ts";
import { claudeFile, importFile } from "../support/service/import-transcript.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

test("an organization imports two transcripts at the same time and the process four, and the others wait for their turn", async () => {
  const { imports } = service().service.parts.service;
  const [one, two, three] = [await service().tenant(), await service().tenant(), await service().tenant()];
  const ending = Promise.withResolvers<void>();
  const running = [one, one, two].map(({ org_id: orgId }) => imports.run(orgId, () => ending.promise));
  const waiting = importFile(one.rest, claudeFile(1));
  await expect.poll(() => imports.counts).toEqual({ running: 3, waiting: 1 });
  // A place is free, and not for the first organization.
  expect((await importFile(three.rest, claudeFile(1))).status).toBe(200);
  expect(imports.counts).toEqual({ running: 3, waiting: 1 });
  ending.resolve();
  await Promise.all(running);
  expect((await waiting).status).toBe(200);
});

test("503 when more imports of an organization wait than may", async () => {
  const { imports } = service().service.parts.service;
  const { rest, org_id: orgId } = await service().tenant();
  const ending = Promise.withResolvers<void>();
  const running = Array.from({ length: 16 }, () => imports.run(orgId, () => ending.promise));
  const rejected = await importFile(rest, claudeFile(1));
  expect([rejected.status, rejected.body.error]).toEqual([
    503,
    "The service is importing other transcripts. Try again in a few seconds.",
  ]);
  ending.resolve();
  await Promise.all(running);
});

test("a file that arrives slowly delays no other import of its organization", async () => {
  const { uploads } = service().service.parts.service;
  const sockets = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const socket = connect(service().service.port, "127.0.0.1");
      socket.write(`${await requestHead(1000)}{`);
      return socket;
    }),
  );
  await expect.poll(() => uploads.counts.running).toBe(8);
  expect((await importFile(tenant.rest, claudeFile(1))).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => uploads.counts.running).toBe(0);
});

test("a line with too many values is skipped, and the others are imported", async () => {
  const line = JSON.stringify({ type: "user", message: Array.from({ length: 60_000 }, () => ({})) });
  const { status, body } = await importFile(tenant.rest, `${claudeFile(1, { session: "complex" })}${line}\n`);
  expect([status, body]).toMatchObject([200, { added: 1, skipped: { line_too_complex: 1 } }]);
});

async function requestHead(length: number): Promise<string> {
  const lines = [
    `POST /v1/agents/${await mainAgentId(tenant.rest)}/sessions/import HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${tenant.api_key}`,
    "Content-Type: application/x-ndjson",
    `Content-Length: ${length}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

test("a client that leaves during the upload leaves nothing, and its import can be repeated", async () => {
  const file = claudeFile(20_000, { session: "left" });
  const socket = connect(service().service.port, "127.0.0.1");
  socket.write(await requestHead(Buffer.byteLength(file)));
  await new Promise((resolve) => void socket.write(file.slice(0, file.length / 2), resolve));
  socket.destroy();
  // The slot of the organization is free again once the service has noticed.
  await expect.poll(async () => (await importFile(tenant.rest, claudeFile(1))).status).toBe(200);
  const { em } = service().service.parts.orm;
  expect(await em.fork().count(Session, { externalId: "claude-code:left" })).toBe(0);
  expect((await importFile(tenant.rest, file)).body.added).toBe(20_000);
  expect(await readdir(path.join(service().dataDirectory, "imports"))).toEqual([]);
});

test("a line of more than 8 MiB is skipped, and one of almost 8 MiB is imported up to its bound", async () => {
  const session = randomUUID();
  const file = [9, 7].map((mib) => claudeFile(1, { session, content: "x".repeat(mib * 1024 * 1024) }));
  const { status, body } = await importFile(tenant.rest, file.join(""));
  expect([status, body]).toMatchObject([200, { added: 1, skipped: { line_too_long: 1 }, is_cut: false }]);
  const { body: page } = await tenant.rest.get(`/v1/sessions/${body.session_id}/transcript`);
  const [entry] = page["entries"] as { content: string }[];
  expect(entry!.content.length).toBe(262_144);
});
