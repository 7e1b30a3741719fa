import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { SessionEntry } from "../../domain/sessions/session-entry.entity.ts";
import { Session } from "../../domain/sessions/session.entity.ts";
import type { SessionView } from "../../domain/sessions/session-view.ts";
import { findSample, SAMPLES, type Sample } from "../domain/sessions/import/samples.ts";
import { rpcClient, rpcErrorOf } from "../support/clients/rpc-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { claudeFile, importFile } from "../support/service/import-transcript.ts";
import { listServers, mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const em = () => service().service.parts.orm.em.fork();
const textOf = ({ file }: Sample) => readFileSync(file, "utf8");
const linesOf = (sample: Sample) => textOf(sample).trimEnd().split("\n");

/** What the database has of a session. */
async function storedOf(externalId: string): Promise<[sessions: number, entries: number]> {
  const sessions = await em().find(Session, { externalId, orgId: tenant.org_id });
  return [sessions.length, await em().count(SessionEntry, { sessionId: { $in: sessions.map(({ id }) => id) } })];
}

async function countEntries(): Promise<number> {
  return em().count(SessionEntry, {});
}

test.each(SAMPLES)("a real transcript is imported with its exact tokens: $name", async (sample) => {
  const owner = await service().tenant();
  const { status, body } = await importFile(owner.rest, textOf(sample));
  expect([status, body]).toEqual([
    200,
    {
      session_id: expect.any(String),
      format: sample.format,
      added: expect.any(Number),
      existing: 0,
      tokens: sample.tokens,
      skipped: expect.any(Object),
      is_cut: false,
    },
  ]);
  const session = (await owner.rest.get(`/v1/sessions/${body.session_id}`)).body as unknown as SessionView;
  const { input, output, cache_read, cache_write } = sample.tokens;
  expect(session).toMatchObject({
    external_id: expect.stringMatching(new RegExp(`^${sample.format}:([0-9a-f-]{36}|ses_\\w+$)`)),
    title: expect.any(String),
    message_count: body.added,
    tokens: { ...sample.tokens, total: input + output + cache_read + cache_write },
  });
  expect(new Date(session.created_at).getTime()).toBeLessThanOrEqual(new Date(session.updated_at).getTime());
});

verifies("sessions.import", "importing a transcript again adds nothing and changes no counter", async () => {
  const sample = findSample("claude-code/session");
  const first = await importFile(tenant.rest, textOf(sample));
  const session = await tenant.rest.get(`/v1/sessions/${first.body.session_id}`);
  const usage = await tenant.rest.get(`/v1/servers/${(await listServers(tenant.rest))[0]!.server_id}/usage`);
  const again = await importFile(tenant.rest, textOf(sample));
  expect(again.body).toEqual({ ...first.body, added: 0, existing: first.body.added });
  expect((await tenant.rest.get(`/v1/sessions/${first.body.session_id}`)).body).toEqual(session.body);
  const { server_id: id } = (await listServers(tenant.rest))[0]!;
  expect((await tenant.rest.get(`/v1/servers/${id}/usage`)).body).toEqual(usage.body);
});

test.each(["claude-code/session", "codex/session", "codex-0.104/session"])(
  "importing longer and longer versions of %s gives the same session as importing the whole file",
  async (name) => {
    const sample = findSample(name);
    const [whole, grown] = [await service().tenant(), await service().tenant()];
    const { body: expected } = await importFile(whole.rest, textOf(sample));
    const lines = linesOf(sample);
    let added = 0;
    for (const part of [0.3, 0.5, 0.8, 1]) {
      const text = lines.slice(0, Math.ceil(lines.length * part)).join("\n");
      added += (await importFile(grown.rest, `${text}\n`)).body.added;
    }
    expect(added).toBe(expected.added);
    const [a, b] = await Promise.all([whole, grown].map(readOnlySession));
    expect(b).toEqual(a);
  },
);

/** What two sessions with the same entries have in common. */
async function readOnlySession({ rest }: Tenant) {
  const [session] = (await rest.get("/v1/sessions")).body["sessions"] as SessionView[];
  const { body } = await rest.get(`/v1/sessions/${session!.session_id}/transcript?limit=200`);
  const { external_id, title, created_at, updated_at, message_count, tokens } = session!;
  return { external_id, title, created_at, updated_at, message_count, tokens, transcript: body };
}

test("two imports of the same transcript at the same time store each entry once", async () => {
  const file = claudeFile(2500, { session: "at-once" });
  const results = await Promise.all([importFile(tenant.rest, file), importFile(tenant.rest, file)]);
  expect(results.map(({ status }) => status)).toEqual([200, 200]);
  expect(results.map(({ body }) => body.added).toSorted((a, b) => a - b)).toEqual([0, 2500]);
  expect(results[0]?.body.session_id).toBe(results[1]?.body.session_id);
  expect(await storedOf("claude-code:at-once")).toEqual([1, 2500]);
  const { body } = await tenant.rest.get(`/v1/sessions/${results[0]?.body.session_id}`);
  expect(body["tokens"]).toEqual({ input: 2500, output: 5000, cache_read: 7500, cache_write: 10_000, total: 25_000 });
});

test("a last line that is cut is left out, and a longer version adds it", async () => {
  const file = claudeFile(3, { session: "cut" });
  const cut = await importFile(tenant.rest, file.slice(0, -20));
  expect([cut.status, cut.body]).toEqual([200, expect.objectContaining({ added: 2, is_cut: true })]);
  const whole = await importFile(tenant.rest, file);
  expect(whole.body).toMatchObject({ added: 1, existing: 2, is_cut: false });
});

test("400 an invalid line within the file is named, and nothing of the file is stored", async () => {
  const before = await countEntries();
  const lines = claudeFile(3000, { session: "broken" }).split("\n");
  lines[2500] = lines[2500]!.slice(0, -20);
  const { status, body } = await importFile(tenant.rest, lines.join("\n"));
  expect([status, body]).toEqual([
    400,
    { error: "Line 2501 is not JSON. Nothing is imported. Correct or remove the line, then try again." },
  ]);
  expect(await countEntries()).toBe(before);
  expect(await storedOf("claude-code:broken")).toEqual([0, 0]);
});

test.each([
  ["an empty file", ""],
  ["a file of empty lines", "\n\n\n"],
  ["a file of other records", '{"role":"user","content":"Hello"}\n'.repeat(200)],
  ["one JSON document", '{"messages":[]}'],
  ["a binary file", Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0xff, 0xfe])],
])("400 %s is not a transcript", async (_name, file) => {
  const { status, body } = await importFile(tenant.rest, file);
  expect([status, body]).toEqual([
    400,
    {
      error:
        "The file is not a transcript of claude-code, codex, cursor, gemini-cli, openclaw, or opencode. Nothing is imported.",
    },
  ]);
});

test("400 a format that is unknown, or not that of the file, is rejected", async () => {
  const file = textOf(findSample("codex/session"));
  const wrong = await importFile(tenant.rest, file, { query: "?format=claude-code" });
  expect([wrong.status, wrong.body]).toEqual([400, { error: "format: the file is a transcript of codex." }]);
  for (const query of ["?format=other", "?unknown=1"])
    expect([query, (await importFile(tenant.rest, file, { query })).status]).toEqual([query, 400]);
});

test("a transcript that names no session is rejected", async () => {
  const { status, body } = await importFile(tenant.rest, '{"type":"summary","summary":"x","leafUuid":"y"}\n');
  expect([status, body.error]).toEqual([400, expect.stringContaining("no record with the id of its session")]);
});

test("404 an agent that is unknown or of another organization is not found, whatever the file is", async () => {
  const foreign = await mainAgentId((await service().tenant()).rest);
  for (const agentId of [foreign, randomUUID(), "malformed"])
    for (const file of [claudeFile(1), "not a transcript"]) {
      const { status, body } = await importFile(tenant.rest, file, { agentId });
      expect([agentId, status, body.error]).toEqual([agentId, 404, expect.stringContaining("Agent not found")]);
    }
});

test("401 a gateway token imports nothing", async () => {
  const [server] = await listServers(tenant.rest);
  const created = await tenant.rest.post("/v1/agents", { server_id: server!.server_id, name: "Importer" });
  const { agent_id: agentId, gateway_token: token } = created.body as { agent_id: string; gateway_token: string };
  const { status } = await importFile(tenant.rest.as(token), claudeFile(1), { agentId });
  expect(status).toBe(401);
});

test("409 a transcript is not imported into a closed session", async () => {
  const file = claudeFile(2);
  const { body } = await importFile(tenant.rest, file);
  await tenant.rest.post(`/v1/sessions/${body.session_id}/close`, {});
  const { status, body: rejected } = await importFile(tenant.rest, file + claudeFile(1));
  expect([status, rejected.error]).toEqual([409, expect.stringContaining("The session is closed")]);
});

test("what the database cannot store is replaced, and text that looks like markup or SQL stays as it is", async () => {
  const odd = `\u0000 \ud800 '); drop table sessions; -- <script>alert(1)</script> \u2028 "\\ {} \r\n\t{1,2}`;
  // Few rows are inserted in another way than many.
  for (const count of [1, 40]) {
    const { body } = await importFile(tenant.rest, claudeFile(count, { content: odd }));
    const { body: page } = await tenant.rest.get(`/v1/sessions/${body.session_id}/transcript`);
    const contents = (page["entries"] as { content: string }[]).map(({ content }) => content);
    const stored = odd.replace("\u0000", "\ufffd").replace("\ud800", "\ufffd");
    expect(contents).toEqual(Array.from({ length: count }, () => stored));
  }
});

test("400 typed RPC says that the file is sent over REST", async () => {
  const id = await mainAgentId(tenant.rest);
  const api = rpcClient(service().service.publicUrl, tenant.api_key);
  for (const file of ["{}", {}] as unknown as AsyncIterable<Uint8Array>[])
    expect(await rpcErrorOf(api.sessions.import.mutate({ id, file }))).toMatchObject({
      message: "file: send the file as the body of the request, over REST",
    });
});

test("the audit log has an import with its agent", async () => {
  const owner = await service().tenant();
  const agentId = await mainAgentId(owner.rest);
  await importFile(owner.rest, claudeFile(1));
  const rows = await em().execute<{ target: string; outcome: string }[]>(
    "select target, outcome from audit_events where org_id = ? and action = 'sessions.import'",
    [owner.org_id],
  );
  expect(rows).toEqual([{ target: agentId, outcome: "done" }]);
});
