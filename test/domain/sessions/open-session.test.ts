import { beforeAll, expect, test } from "vitest";
import { closeSession } from "../../../domain/sessions/close-session.ts";
import { deleteSession } from "../../../domain/sessions/delete-session.ts";
import { openSession } from "../../../domain/sessions/open-session.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { givenSession } from "../../support/service/given-session.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { claudeFile, importFile } from "../../support/service/import-transcript.ts";
import { listServers } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let caller: Caller;
let agentId: string;
let serverId: string;

beforeAll(async () => {
  tenant = await service().tenant();
  const [server] = await listServers(tenant.rest);
  [serverId, agentId] = [server!.server_id, server!.agent.agent_id];
  const credential = { kind: "api_key", id: "test" } as const;
  caller = { orgId: tenant.org_id, userId: null, role: "admin", scope: "everything", credential };
});

const deps = () => ({ em: service().service.parts.orm.em, db: service().service.parts.db });
const open = (externalId: string, as = caller) =>
  openSession(deps(), as, { agent_id: agentId, external_id: externalId });

test("with a gateway token, an agent opens, closes and deletes only its own sessions", async () => {
  const other = { ...caller, agentId: tenant.org_id };
  const forbidden = { code: "forbidden" };
  await expect(open("own", other)).rejects.toMatchObject(forbidden);
  const { session_id: id } = await open("own", { ...caller, agentId });
  await expect(closeSession(deps(), other, id)).rejects.toMatchObject(forbidden);
  await expect(deleteSession(deps(), other, id)).rejects.toMatchObject(forbidden);
  expect(await closeSession(deps(), { ...caller, agentId }, id)).toMatchObject({ closed_at: expect.any(String) });
  expect(await deleteSession(deps(), { ...caller, agentId }, id)).toEqual({ status: "deleted" });
});

test("an agent in a gateway has no sessions in the service", async () => {
  const gateway = { name: "Gateway", kind: "openclaw", url: "wss://gateway.example.com", token: "secret" };
  const { body } = await tenant.rest.post("/v1/servers", gateway);
  const { agent_id: hosted } = body["agent"] as { agent_id: string };
  const opened = await tenant.rest.post(`/v1/agents/${hosted}/sessions`, { external_id: "x" });
  const imported = await importFile(tenant.rest, claudeFile(1), { agentId: hosted });
  expect([opened.status, imported.status]).toEqual([409, 409]);
});

test("an agent has at most 100,000 sessions", async () => {
  const { body } = await tenant.rest.post("/v1/agents", { server_id: serverId, name: "Busy" });
  const busy = String(body["agent_id"]);
  await deps()
    .em.fork()
    .execute(
      `insert into sessions (id, org_id, server_id, agent_id, external_id, message_count, created_at, updated_at)
       select gen_random_uuid(), ?, ?, ?, 'run-' || n, 0, now(), now() from generate_series(1, 99999) n`,
      [tenant.org_id, serverId, busy],
    );
  const last = await givenSession(tenant.rest, { agentId: busy });
  const request = { agent_id: busy, external_id: "one-too-many" };
  const message = "An agent can have at most 100000 sessions. Delete sessions that are not needed any more.";
  await expect(openSession(deps(), caller, request)).rejects.toMatchObject({ code: "conflict", message });
  expect(await openSession(deps(), caller, { ...request, external_id: last.external_id })).toEqual(last);
  await deleteSession(deps(), caller, last.session_id);
  expect(await openSession(deps(), caller, request)).toMatchObject({ external_id: "one-too-many" });
});
