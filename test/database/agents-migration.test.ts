import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { mintToken } from "../../domain/tokens/mint-token.ts";
import { openMigrator } from "../../server/database/migrate.ts";
import { openOrm } from "../../server/database/orm.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { createEmptyDatabase } from "../support/service/test-databases.ts";
import { createHarness } from "../support/service/harness.ts";
import { listServers } from "../support/service/main-agent.ts";

const BEFORE = "Migration20261122164052_usage_retention";

/** Creates two organizations of the version before. Two gateway tokens of the first one share an agent. */
async function createOldRecords(databaseUrl: string) {
  const orm = openOrm(databaseUrl);
  try {
    await (await openMigrator(orm)).up({ to: BEFORE });
    return await orm.em.fork().transactional(async (em) => {
      const first = await createOrganization(em, { name: "First", email: null, plan: "scale" });
      const second = await createOrganization(em, { name: "Second", email: "owner@example.com", plan: "scale" });
      const agentId = randomUUID();
      const ofAgent = { kind: "gateway_token", orgId: first.org_id, userId: null, agentId } as const;
      const { token } = mintToken(em, { ...ofAgent, name: "Desk" });
      mintToken(em, { ...ofAgent, name: "Laptop" });
      await em.flush();
      return { first, second, agentId, gatewayToken: token };
    });
  } finally {
    await orm.close();
  }
}

test("the organizations of an earlier version get a server with a main agent, and their gateway tokens keep working", async () => {
  await using database = await createEmptyDatabase();
  const { databaseUrl } = database;
  const { first, second, agentId, gatewayToken } = await createOldRecords(databaseUrl);
  await using harness = await createHarness({ config: { databaseUrl } });
  const { publicUrl } = harness.service;
  const serversOf = (apiKey: string) => listServers(new RestClient(publicUrl, apiKey));
  const main = { agent_id: expect.any(String), name: "Main", model: null };
  const server = { server_id: expect.any(String), name: "Default", status: "ready" };
  const desk = { agent_id: agentId, name: "Desk", model: null };
  expect(await serversOf(first.api_key)).toMatchObject([{ ...server, agent: { ...main, specialized_agents: [desk] } }]);
  expect(await serversOf(second.api_key)).toMatchObject([{ ...server, agent: { ...main, specialized_agents: [] } }]);
  const { structuredContent } = await new GatewayClient(publicUrl, gatewayToken).tool("service_get_agent_instructions");
  expect(structuredContent["agent_id"]).toBe(agentId);
});
