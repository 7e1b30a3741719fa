import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type OpenHostDeps,
  hostedIdOf,
  type ManagedServer,
  openAgent,
  openHost,
  selectAgentIds,
} from "../../../domain/agents/open-host.ts";
import { checkConnection, checkGatewayToken, sealToken } from "../../../domain/agents/gateway-connection-rules.ts";
import { toHostSettings } from "../../../domain/agents/gateway-settings.ts";
import { type Db, queryBuilderOf } from "../../../domain/database-types.ts";
import { callerOf, GATEWAY_TOKEN, givenServer, tokenCipher } from "../../support/agents/given-server.ts";
import { ScriptedHost, ScriptedHosts } from "../../support/agents/scripted-hosts.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";

const orm = sharedDatabase();
const managed = new ScriptedHost();
let db: Db;
let hosts: ScriptedHosts;
let managedServers: ManagedServer[];

beforeAll(() => {
  db = queryBuilderOf(orm().em.fork());
});

beforeEach(() => {
  [hosts, managedServers] = [new ScriptedHosts(), []];
});

function deps(): OpenHostDeps {
  const managedHost = (server: ManagedServer) => {
    managedServers.push(server);
    return managed;
  };
  return { db, hosts, tokenCipher, managedHost };
}

describe("the host of an agent", () => {
  test("of a managed server is the service itself", async () => {
    const { orgId, serverId, agentIds } = await givenServer(orm(), { isManaged: true });
    const opened = await openAgent(deps(), callerOf(orgId), agentIds[0]);
    expect(opened).toMatchObject({ agent: { id: agentIds[0], serverId }, hostedId: agentIds[0] });
    expect([opened.host, managedServers, hosts.opened]).toEqual([managed, [{ id: serverId, orgId }], []]);
  });

  test("in a gateway is opened with the settings of its own server", async () => {
    await givenServer(orm());
    const { orgId, serverId, agentIds } = await givenServer(orm(), { agents: ["main", "sales"] });
    const opened = await openAgent(deps(), callerOf(orgId), agentIds[1]);
    expect([opened.hostedId, opened.host]).toEqual(["sales", hosts.of(serverId)]);
    expect(hosts.opened).toMatchObject([{ serverId, orgId, url: "wss://gateway.example.com", version: 1 }]);
    expect([hosts.opened[0]!.token(), managedServers]).toEqual([GATEWAY_TOKEN, []]);
  });

  test("is not available before the first contact with the gateway", async () => {
    const { orgId, agentIds } = await givenServer(orm());
    await expect(openAgent(deps(), callerOf(orgId), agentIds[0])).rejects.toMatchObject({ code: "unavailable" });
    expect(hosts.opened).toEqual([]);
    const agent = { id: "agent", serverId: "server", createdAt: null, externalId: "main" };
    expect([hostedIdOf({ ...agent, kind: "managed" }), hostedIdOf({ ...agent, kind: "openclaw" })]).toEqual([
      "agent",
      "main",
    ]);
  });

  test("is not found for a server of another organization or a deleted one", async () => {
    const { serverId, orgId } = await givenServer(orm());
    for (const [org, id] of [
      [randomUUID(), serverId],
      [orgId, randomUUID()],
    ] as const)
      await expect(openHost(deps(), callerOf(org), { id, kind: "openclaw" })).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringMatching(/^Server not found/),
      });
    expect(hosts.opened).toEqual([]);
  });
});

test("the agents of a server are found by their ids on the host", async () => {
  const gateway = await givenServer(orm(), { agents: ["main", "sales"] });
  const [main, sales] = gateway.agentIds as [string, string];
  expect([...(await selectAgentIds(db, gateway.serverId))].toSorted()).toEqual([
    ["main", main],
    ["sales", sales],
  ]);
  const { serverId, agentIds } = await givenServer(orm(), { isManaged: true });
  expect([...(await selectAgentIds(db, serverId))]).toEqual([[agentIds[0], agentIds[0]]]);
});

test("a URL that the service would not connect to, and a token that no gateway has, are rejected", () => {
  const connection = { hosts: new ScriptedHosts(), tokenCipher };
  const url = "wss://gateway.example.com";
  for (const token of ["!", "~", "x".repeat(1000)]) {
    expect(() => checkConnection(connection, { url, token })).not.toThrow();
    expect(() => checkGatewayToken(token)).not.toThrow();
  }
  expect(() => checkConnection(connection, { url: "https://gateway.example.com", token: "x" })).toThrow(
    expect.objectContaining({ code: "invalid", message: "url: must be a WebSocket URL." }),
  );
  const invalid = expect.objectContaining({
    code: "invalid",
    message: expect.stringMatching(/^token: must have 1 to/),
  });
  for (const token of ["", "a b", " a", "a ", "a\n", "é", "x".repeat(1001)]) {
    expect(() => checkConnection(connection, { url, token })).toThrow(invalid);
    expect(() => checkGatewayToken(token)).toThrow(invalid);
  }
});

test("a token is encrypted for its server only", () => {
  const sealedToken = sealToken({ hosts: new ScriptedHosts(), tokenCipher }, "server-1", "secret");
  const row = { id: "server-1", orgId: "org", url: "wss://a", sealedToken, connectionVersion: 3 };
  const settings = toHostSettings(row, tokenCipher);
  expect(settings).toMatchObject({ serverId: "server-1", orgId: "org", url: "wss://a", version: 3 });
  expect(settings.token()).toBe("secret");
  expect(toHostSettings({ ...row, id: "server-2" }, tokenCipher).token()).toBeNull();
  const without = toHostSettings({ ...row, url: null, sealedToken: null }, tokenCipher);
  expect([without.url, without.token()]).toEqual(["", null]);
});
