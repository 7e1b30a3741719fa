import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { findAgent, findOwnAgent, checkMayChange } from "../../../domain/agents/find-agent.ts";
import { findServer, findServerAndAgent } from "../../../domain/agents/find-server.ts";
import { getAgent } from "../../../domain/agents/get-agent.ts";
import { type Db, queryBuilderOf } from "../../../domain/database-types.ts";
import { callerOf, givenServer } from "../../support/agents/given-server.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";

const orm = sharedDatabase();
const orgId = randomUUID();
let db: Db;
/** The servers of the organization, the oldest first, with their agents: the main one first. */
let first: { serverId: string; agentIds: string[] };
let second: { serverId: string; agentIds: string[] };
let foreign: { serverId: string; agentIds: string[] };

beforeAll(async () => {
  db = queryBuilderOf(orm().em.fork());
  foreign = await givenServer(orm(), { agents: ["main"] });
  first = await givenServer(orm(), { orgId, isManaged: true, agents: [null, null] });
  second = await givenServer(orm(), { orgId, agents: ["main", "sales"] });
});

const user = callerOf(orgId);
const agentNotFound = { code: "not_found", message: expect.stringMatching(/^Agent not found/) };
const serverNotFound = { code: "not_found", message: expect.stringMatching(/^Server not found/) };

describe("the agent that a call is about", () => {
  test("is the given one, with what identifies it on its gateway", async () => {
    expect(await findAgent(db, user, second.agentIds[1])).toEqual({
      id: second.agentIds[1],
      serverId: second.serverId,
      kind: "openclaw",
      externalId: "sales",
      createdAt: expect.anything(),
    });
    const ofAgent = await findAgent(db, callerOf(orgId, first.agentIds[1]), second.agentIds[0]);
    expect(ofAgent.id).toBe(second.agentIds[0]);
  });

  test("is by default that of the gateway token, and for a user the main agent of the first server", async () => {
    expect((await findAgent(db, callerOf(orgId, second.agentIds[1]), undefined)).id).toBe(second.agentIds[1]);
    expect(await findAgent(db, user, undefined)).toMatchObject({ id: first.agentIds[0], kind: "managed" });
  });

  test("does not belong to another organization", async () => {
    for (const id of [foreign.agentIds[0], randomUUID()])
      await expect(findAgent(db, user, id)).rejects.toMatchObject(agentNotFound);
    await expect(findAgent(db, callerOf(randomUUID()), undefined)).rejects.toMatchObject(agentNotFound);
    await expect(getAgent({ db }, user, foreign.agentIds[0]!)).rejects.toMatchObject(agentNotFound);
  });

  test("is the agent itself where a gateway token reaches no other one", async () => {
    const agent = callerOf(orgId, first.agentIds[1]);
    const [main, own] = first.agentIds as [string, string];
    for (const id of [undefined, own]) expect((await findOwnAgent(db, agent, id)).id).toBe(own);
    await expect(findOwnAgent(db, agent, main)).rejects.toMatchObject({ code: "forbidden" });
    expect((await findOwnAgent(db, user, own)).id).toBe(own);
  });

  test("can be changed with a user's token, and with its own gateway token", () => {
    const [main, own] = first.agentIds as [string, string];
    expect(() => checkMayChange(user, { id: own })).not.toThrow();
    expect(() => checkMayChange(callerOf(orgId, own), { id: own })).not.toThrow();
    expect(() => checkMayChange(callerOf(orgId, own), { id: main })).toThrow(
      expect.objectContaining({ code: "forbidden" }),
    );
  });
});

describe("the server that a call is about", () => {
  test("is the given one", async () => {
    expect(await findServer(db, user, second.serverId)).toEqual({ id: second.serverId, kind: "openclaw" });
    expect(await findServer(db, user, first.serverId)).toEqual({ id: first.serverId, kind: "managed" });
  });

  test("is by default that of the gateway token's agent, and for a user the first one", async () => {
    expect(await findServer(db, user, undefined)).toEqual({ id: first.serverId, kind: "managed" });
    const agent = callerOf(orgId, second.agentIds[1]);
    expect(await findServer(db, agent, undefined)).toEqual({ id: second.serverId, kind: "openclaw" });
  });

  test("does not belong to another organization", async () => {
    for (const id of [foreign.serverId, randomUUID()])
      await expect(findServer(db, user, id)).rejects.toMatchObject(serverNotFound);
  });

  test("is that of the agent if the call is about one", async () => {
    const [, agentId] = second.agentIds as [string, string];
    const found = {
      server: { id: second.serverId, kind: "openclaw" },
      agent: { id: agentId, serverId: second.serverId },
    };
    expect(await findServerAndAgent(db, user, { serverId: undefined, agentId })).toMatchObject(found);
    expect(await findServerAndAgent(db, user, { serverId: second.serverId, agentId })).toMatchObject(found);
    expect(await findServerAndAgent(db, user, { serverId: first.serverId, agentId: undefined })).toEqual({
      server: { id: first.serverId, kind: "managed" },
      agent: null,
    });
    const ofAnother = findServerAndAgent(db, user, { serverId: first.serverId, agentId });
    await expect(ofAnother).rejects.toMatchObject(agentNotFound);
    const unknown = findServerAndAgent(db, user, { serverId: foreign.serverId, agentId });
    await expect(unknown).rejects.toMatchObject(serverNotFound);
  });
});
