import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { AgentServer } from "../../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../../domain/agents/agent.entity.ts";
import { deleteAgent, deleteServer } from "../../../domain/agents/delete-agent.ts";
import { EnabledSkill } from "../../../domain/agents/enabled-skill.entity.ts";
import { InstructionRevision } from "../../../domain/agents/instruction-revision.entity.ts";
import { ProjectMount } from "../../../domain/agents/project-mount.entity.ts";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { Memory } from "../../../domain/memory/memory.entity.ts";
import { Session } from "../../../domain/sessions/session.entity.ts";
import { MachineToken } from "../../../domain/tokens/machine-token.entity.ts";
import { mintToken } from "../../../domain/tokens/mint-token.ts";
import { callerOf, givenServer } from "../../support/agents/given-server.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";

const orm = sharedDatabase();
const em = () => orm().em.fork();
const AUTHOR = { userId: null, credentialKind: "api_key", credentialId: "test" } as const;
const REVOKED = new Date("2026-01-02T03:04:05.678Z");

/** What was announced and removed after the transaction. */
let effects: string[];

beforeEach(() => {
  effects = [];
});

function deps() {
  const feed = (name: string) => ({
    announce: (id: string) => void effects.push(`${name} ${id}`),
    listen: () => () => undefined,
  });
  const remove = async ({ orgId, agentId }: { orgId: string; agentId: string }) => {
    effects.push(`workspace ${orgId} ${agentId}`);
    throw new Error("the disk is full");
  };
  return {
    em: orm().em,
    db: queryBuilderOf(em()),
    accessChanges: feed("access"),
    serverChanges: feed("server"),
    agentWorkspaces: { remove } as never,
  };
}

/** Stores a server whose agents have one record of each kind, a valid token and a revoked one. */
async function givenAgents(options: Parameters<typeof givenServer>[1]) {
  const server = await givenServer(orm(), { isManaged: true, ...options });
  const { orgId, serverId } = server;
  const tx = em();
  for (const agentId of server.agentIds) {
    const number = { agentId, number: 1, content: "", contentHash: "0", revertedTo: null };
    tx.create(InstructionRevision, { ...number, ...AUTHOR });
    tx.create(EnabledSkill, { agentId, skillId: randomUUID() });
    tx.create(ProjectMount, { agentId, projectId: randomUUID() });
    tx.create(Session, { orgId, serverId, agentId, externalId: "run" });
    const memory = { orgId, agentId, kind: "fact", content: "", contentHash: "0", meaningHash: "0" } as const;
    tx.create(Memory, { ...memory, instructionLike: false, indexId: 1, ...AUTHOR });
    const token = { kind: "gateway_token", name: "Token", orgId, userId: null, agentId } as const;
    mintToken(tx, token);
    const { id } = mintToken(tx, token);
    await tx.flush();
    await tx.nativeUpdate(MachineToken, { id }, { revokedAt: REVOKED });
  }
  return server;
}

/** Counts what is left of an agent: records, valid tokens, and tokens that were revoked before. */
async function leftOf(agentId: string): Promise<number[]> {
  const db = em();
  const counts = [
    db.count(Agent, { id: agentId }),
    db.count(InstructionRevision, { agentId }),
    db.count(EnabledSkill, { agentId }),
    db.count(ProjectMount, { agentId }),
    db.count(Session, { agentId }),
    db.count(Memory, { agentId }),
    db.count(MachineToken, { agentId, revokedAt: null }),
    db.count(MachineToken, { agentId, revokedAt: REVOKED }),
  ];
  return Promise.all(counts);
}

const WHOLE = [1, 1, 1, 1, 1, 1, 1, 1];
const DELETED = [0, 0, 0, 0, 0, 0, 0, 1];

describe("a deleted agent", () => {
  test("is gone with everything that belongs to it, and other agents stay, even if its workspace cannot be removed", async () => {
    const { orgId, agentIds } = await givenAgents({ agents: [null, null, null] });
    const [main, short, other] = agentIds as [string, string, string];
    expect(await deleteAgent(deps(), callerOf(orgId), short)).toEqual({ status: "deleted" });
    expect([await leftOf(main), await leftOf(short), await leftOf(other)]).toEqual([WHOLE, DELETED, WHOLE]);
    expect(effects).toEqual([`access ${orgId}`, `workspace ${orgId} ${short}`]);
    expect(await em().count(MachineToken, { agentId: short, revokedAt: { $ne: null } })).toBe(2);
  });

  test("is not the main agent, one of a gateway, or one of another organization", async () => {
    const { orgId, agentIds } = await givenAgents({ agents: [null, null] });
    const gateway = await givenAgents({ orgId, isManaged: false, agents: ["main", "sales"] });
    const foreign = await givenAgents({ agents: [null, null] });
    const cases = [
      [agentIds[0]!, "conflict", /Delete the server instead/],
      [gateway.agentIds[1]!, "conflict", /in an OpenClaw gateway/],
      [foreign.agentIds[1]!, "not_found", /^Agent not found/],
      [randomUUID(), "not_found", /^Agent not found/],
    ] as const;
    for (const [id, code, message] of cases) {
      const deletion = deleteAgent(deps(), callerOf(orgId), id);
      await expect(deletion).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    }
    for (const id of [...agentIds, ...gateway.agentIds, ...foreign.agentIds]) expect(await leftOf(id)).toEqual(WHOLE);
    expect(effects).toEqual([]);
  });
});

describe("a deleted server", () => {
  test.each([true, false])("is gone with its agents, and other servers stay (managed: %s)", async (isManaged) => {
    const { orgId, agentIds: kept } = await givenAgents({ agents: [null, null] });
    const { serverId, agentIds } = await givenAgents({ orgId, isManaged, agents: ["main", "sales"] });
    expect(await deleteServer(deps(), callerOf(orgId), serverId)).toEqual({ status: "deleted" });
    for (const id of kept) expect(await leftOf(id)).toEqual(WHOLE);
    for (const id of agentIds) expect(await leftOf(id)).toEqual(DELETED);
    expect(await em().count(AgentServer, { orgId })).toBe(1);
    expect(effects.slice(0, 2)).toEqual([`server ${serverId}`, `access ${orgId}`]);
    expect(effects.slice(2).toSorted()).toEqual(agentIds.map((id) => `workspace ${orgId} ${id}`).toSorted());
  });

  test("is not the only one of the organization, and none of another one", async () => {
    const { orgId, serverId, agentIds } = await givenAgents({ agents: [null] });
    const foreign = await givenAgents({ agents: [null] });
    await givenAgents({ orgId: foreign.orgId, agents: [null] });
    await expect(deleteServer(deps(), callerOf(orgId), serverId)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("Create another server first"),
    });
    for (const id of [foreign.serverId, randomUUID()])
      await expect(deleteServer(deps(), callerOf(orgId), id)).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringMatching(/^Server not found/),
      });
    for (const id of [...agentIds, ...foreign.agentIds]) expect(await leftOf(id)).toEqual(WHOLE);
    expect(effects).toEqual([]);
  });
});
