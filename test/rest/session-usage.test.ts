import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { periodOf } from "../../domain/usage/usage-period.ts";
import { nextMillisecond } from "../support/next-millisecond.ts";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

/** A server with its main agent and a specialized one. */
async function givenServer() {
  const { body } = await tenant.rest.post("/v1/servers", { name: "Office" });
  const serverId = String(body["server_id"]);
  const main = String((body["agent"] as { agent_id: unknown }).agent_id);
  await nextMillisecond();
  const created = await tenant.rest.post("/v1/agents", { server_id: serverId, name: "Invoices" });
  return { serverId, main, specialist: String(created.body["agent_id"]) };
}

const read = async (serverId: string, query = "") =>
  (await tenant.rest.get(`/v1/servers/${serverId}/usage${query}`)).body;
const of = (count: number) => ({
  message_count: count,
  tokens: { input: count, output: 2 * count, cache_read: 3 * count, cache_write: 4 * count, total: 10 * count },
});

verifies(
  "sessions.usage",
  "the usage of a server and of each of its agents is that of the entries of the month",
  async () => {
    const { serverId, main, specialist } = await givenServer();
    const inMay = sampleEntries(4).map((entry) => ({ ...entry, created_at: "2026-05-31T23:59:59.999Z" }));
    const inJune = sampleEntries(2, 5).map((entry) => ({ ...entry, created_at: "2026-06-01T02:00:00+02:00" }));
    await givenSession(tenant.rest, { agentId: main, entries: [...inMay, ...inJune] });
    await givenSession(tenant.rest, { agentId: main, entries: inMay.slice(0, 1) });
    await givenSession(tenant.rest, { agentId: specialist, entries: sampleEntries(7) });
    await givenSession(tenant.rest, { entries: inMay });
    const named = { main: { agent_id: main, name: "Main" }, specialist: { agent_id: specialist, name: "Invoices" } };
    expect(await read(serverId, "?period=2026-05")).toEqual({
      server_id: serverId,
      period: "2026-05",
      ...of(5),
      agents: [
        { ...named.main, ...of(5) },
        { ...named.specialist, ...of(0) },
      ],
    });
    expect(await read(serverId, "?period=2026-06")).toMatchObject({ ...of(2), agents: [of(2), of(0)] });
    expect(await read(serverId)).toMatchObject({
      period: periodOf(new Date()),
      ...of(7),
      agents: [of(0), of(7)],
    });
  },
);

test("entries that are appended again are not counted again, and those of a deleted session stay counted", async () => {
  const { serverId, main } = await givenServer();
  const { session_id: id } = await givenSession(tenant.rest, { agentId: main, entries: sampleEntries(3) });
  await tenant.rest.post(`/v1/sessions/${id}/entries`, { entries: sampleEntries(5) });
  expect(await read(serverId)).toMatchObject(of(5));
  await tenant.rest.delete(`/v1/sessions/${id}`);
  expect(await read(serverId)).toMatchObject(of(5));
});

test("404 another organization's server and a malformed id get the same response as an unknown server", async () => {
  const { serverId } = await givenServer();
  const other = (await service().tenant()).rest;
  const [foreign, unknown, malformed] = await Promise.all(
    [serverId, randomUUID(), "main"].map((id) => other.get(`/v1/servers/${id}/usage`)),
  );
  expect([foreign!.status, foreign!.text, foreign!.text]).toEqual([404, unknown!.text, malformed!.text]);
});

test("400 a period that is not a month is rejected", async () => {
  const { serverId } = await givenServer();
  for (const period of ["2026", "2026-13", "2026-7", "2026-07%00", "12026-07"]) {
    const { status, body } = await tenant.rest.get(`/v1/servers/${serverId}/usage?period=${period}`);
    expect([period, status, body["error"]]).toEqual([period, 400, "period: must be a month, such as 2026-07."]);
  }
});
