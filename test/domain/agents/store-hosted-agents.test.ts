import { beforeEach, describe, expect, test } from "vitest";
import { AgentServer } from "../../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../../domain/agents/agent.entity.ts";
import { EnabledSkill } from "../../../domain/agents/enabled-skill.entity.ts";
import { storeHostedAgents } from "../../../domain/agents/store-hosted-agents.ts";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import type { HostedAgents } from "../../../domain/ports/agent-host.ts";
import { givenServer } from "../../support/agents/given-server.ts";
import { hostedAgents } from "../../support/agents/scripted-hosts.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";
import { nextMillisecond } from "../../support/next-millisecond.ts";

const orm = sharedDatabase();
const em = () => orm().em.fork();

/** The organizations whose access rights were announced as changed, and the agents whose workspaces were removed. */
let announced: string[];
let removedWorkspaces: string[];

beforeEach(() => {
  [announced, removedWorkspaces] = [[], []];
});

function store({ serverId: id, orgId }: { serverId: string; orgId: string }, hosted: HostedAgents, version = 1) {
  const deps = {
    em: orm().em,
    db: queryBuilderOf(em()),
    accessChanges: { announce: (org: string) => void announced.push(org), listen: () => () => undefined },
    agentWorkspaces: { remove: async ({ agentId }: { agentId: string }) => void removedWorkspaces.push(agentId) },
  };
  return storeHostedAgents(deps as never, { id, orgId, connectionVersion: version }, hosted);
}

const agentsOf = async (serverId: string) =>
  (await em().find(Agent, { serverId }, { orderBy: { externalId: "asc" } })).map(
    ({ id, orgId, externalId, name, model, isMain }) => ({ id, orgId, externalId, name, model, isMain }),
  );

const serverOf = ({ serverId }: { serverId: string }) => em().findOneOrFail(AgentServer, { id: serverId });

describe("the first list of a gateway", () => {
  test("adds its agents, and the main agent that was created with the server is the gateway's", async () => {
    const server = await givenServer(orm());
    const bystander = await givenServer(orm());
    const hosted = { ...hostedAgents("main", "sales"), mainId: "sales" };
    await store(server, hosted);
    expect(await agentsOf(server.serverId)).toEqual([
      { id: expect.any(String), orgId: server.orgId, externalId: "main", name: "main", model: null, isMain: false },
      { id: server.agentIds[0], orgId: server.orgId, externalId: "sales", name: "sales", model: null, isMain: true },
    ]);
    expect(await agentsOf(bystander.serverId)).toMatchObject([{ externalId: null, name: "Main" }]);
    expect([announced, removedWorkspaces]).toEqual([[], []]);
  });

  test("makes the server ready, and the time of a later list is not stored", async () => {
    const server = await givenServer(orm());
    const bystander = await givenServer(orm());
    await em().nativeUpdate(AgentServer, { id: server.serverId }, { status: "unreachable", statusMessage: "Down." });
    const before = await serverOf(server);
    await nextMillisecond();
    await store(server, hostedAgents("main"));
    const ready = await serverOf(server);
    expect(ready).toMatchObject({ status: "ready", statusMessage: null });
    expect(ready.statusSince > before.statusSince).toBe(true);
    await nextMillisecond();
    await store(server, hostedAgents("main"));
    expect((await serverOf(server)).statusSince).toEqual(ready.statusSince);
    expect((await serverOf(bystander)).status).toBe("connecting");
  });
});

describe("a later list of a gateway", () => {
  test("changes names and models, and agents keep their ids", async () => {
    const server = await givenServer(orm(), { agents: ["main", "sales", "support"] });
    const [main, sales, support] = server.agentIds;
    await store(server, {
      mainId: "main",
      agents: [
        { id: "support", name: "support", model: "model-1" },
        { id: "sales", name: "Sales", model: null },
        { id: "main", name: "main", model: null },
      ],
    });
    const shared = { orgId: server.orgId };
    expect(await agentsOf(server.serverId)).toEqual([
      { ...shared, id: main, externalId: "main", name: "main", model: null, isMain: true },
      { ...shared, id: sales, externalId: "sales", name: "Sales", model: null, isMain: false },
      { ...shared, id: support, externalId: "support", name: "support", model: "model-1", isMain: false },
    ]);
  });

  test.each([
    ["first", ["a", "b"]],
    ["second", ["b", "a"]],
  ])("makes another agent the main one, if the old one was stored %s", async (_, [main, other]) => {
    const server = await givenServer(orm(), { agents: [main!, other!] });
    await store(server, { ...hostedAgents("a", "b"), mainId: other! });
    const stored = await agentsOf(server.serverId);
    expect(stored.filter(({ isMain }) => isMain)).toMatchObject([{ id: server.agentIds[1], externalId: other }]);
    expect(stored).toHaveLength(2);
  });

  test.each([
    ["beside the old one", ["new", "main"]],
    ["instead of the old one", ["new"]],
  ])("makes an added agent the main one, %s", async (_, ids) => {
    const server = await givenServer(orm(), { agents: ["main"] });
    await store(server, hostedAgents(...ids));
    const stored = await agentsOf(server.serverId);
    expect(stored.map(({ externalId, isMain }) => [externalId, isMain])).toEqual(
      ids.toSorted().map((id) => [id, id === "new"]),
    );
  });

  test("removes the agents that are not in it, with their data", async () => {
    const server = await givenServer(orm(), { agents: ["main", "sales", "support"] });
    const [main, sales, support] = server.agentIds as [string, string, string];
    const skillId = server.serverId;
    const other = em();
    for (const agentId of server.agentIds) other.create(EnabledSkill, { agentId, skillId });
    await other.flush();
    await store(server, hostedAgents("main", "new"));
    expect(await agentsOf(server.serverId)).toMatchObject([{ id: main }, { externalId: "new", isMain: false }]);
    expect(await em().find(EnabledSkill, { skillId })).toMatchObject([{ agentId: main }]);
    expect(announced).toEqual([server.orgId]);
    expect(removedWorkspaces.toSorted()).toEqual([sales, support].toSorted());
  });

  test("changes nothing for a server that was deleted or connects to another gateway", async () => {
    const server = await givenServer(orm(), { agents: ["main"] });
    await store(server, hostedAgents("other"), 2);
    expect(await agentsOf(server.serverId)).toMatchObject([{ externalId: "main" }]);
    expect((await serverOf(server)).status).toBe("connecting");
    await em().nativeDelete(AgentServer, { id: server.serverId });
    await store(server, hostedAgents("other"));
    expect(await agentsOf(server.serverId)).toMatchObject([{ externalId: "main" }]);
    expect([announced, removedWorkspaces]).toEqual([[], []]);
  });
});
