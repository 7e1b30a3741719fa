import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { AgentServer } from "../../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../../domain/agents/agent.entity.ts";
import { listServers } from "../../../domain/agents/list-servers.ts";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { RESPONSE_CHARACTERS } from "../../../domain/shared/response-budget.ts";
import { callerOf, givenServer } from "../../support/agents/given-server.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";

const orm = sharedDatabase();

const list = (orgId: string, request: { limit: number; cursor?: string }) =>
  listServers({ db: queryBuilderOf(orm().em.fork()) }, callerOf(orgId), request);

/** Reads all pages. Returns the ids of the servers of each page. */
async function readPages(orgId: string, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await list(orgId, { limit, ...(cursor !== undefined && { cursor }) });
    expect(JSON.stringify(page).length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
    pages.push(page.servers.map(({ server_id: id }) => id));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return pages;
}

/** Stores servers that were created at the same time. Returns their ids in the order of the list. */
async function givenServers(orgId: string, count: number, { nameLength = 1, agents = 10 } = {}): Promise<string[]> {
  const em = orm().em.fork();
  const createdAt = new Date();
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const id of ids) {
    em.create(AgentServer, { id, orgId, name: "x".repeat(nameLength), createdAt });
    for (let number = 0; number < agents; number++)
      em.create(Agent, { orgId, serverId: id, name: "y".repeat(nameLength), isMain: number === 0 });
  }
  await em.flush();
  return ids.toSorted();
}

test("a server is listed with its main agent, and the others from the oldest to the newest", async () => {
  const { orgId, serverId, agentIds } = await givenServer(orm(), { agents: ["main", "b", "c", "a"] });
  await givenServer(orm());
  const em = orm().em.fork();
  for (const [index, id] of agentIds.entries())
    await em.nativeUpdate(Agent, { id }, { createdAt: new Date(2026, 0, index === 0 ? 9 : index) });
  const view = (index: number) => ({ agent_id: agentIds[index], name: ["main", "b", "c", "a"][index], model: null });
  expect(await list(orgId, { limit: 1 })).toEqual({
    servers: [
      {
        server_id: serverId,
        name: "Server",
        kind: "openclaw",
        url: "wss://gateway.example.com",
        status: "connecting",
        status_since: expect.any(String),
        status_message: null,
        agent: { ...view(0), specialized_agents: [view(1), view(2), view(3)] },
      },
    ],
    next_cursor: null,
  });
});

test("servers of the same time are listed by id, each once, and a full last page is the last one", async () => {
  const orgId = randomUUID();
  const { serverId: oldest } = await givenServer(orm(), { orgId });
  const ids = [oldest, ...(await givenServers(orgId, 5))];
  expect(await readPages(orgId, 4)).toEqual([ids.slice(0, 4), ids.slice(4)]);
  expect(await readPages(orgId, 3)).toEqual([ids.slice(0, 3), ids.slice(3)]);
  expect(await readPages(orgId, 6)).toEqual([ids]);
});

test("a page ends at the size limit of a response", async () => {
  const orgId = randomUUID();
  const ids = await givenServers(orgId, 30, { nameLength: 100 });
  const pages = await readPages(orgId, 20);
  expect([pages.flat(), pages[0]!.length > 5, pages[0]!.length < 20]).toEqual([ids, true, true]);
  const other = randomUUID();
  const small = await givenServers(other, 120, { agents: 1 });
  expect((await readPages(other, 100)).flat()).toEqual(small);
});

test("an organization without servers has an empty page, and a server that is being deleted is left out", async () => {
  const orgId = randomUUID();
  expect(await list(orgId, { limit: 10 })).toEqual({ servers: [], next_cursor: null });
  const [first, second] = (await givenServers(orgId, 2)) as [string, string];
  await orm().em.fork().nativeDelete(Agent, { serverId: second });
  expect(await readPages(orgId, 10)).toEqual([[first]]);
});

test("a cursor that this service did not return is invalid", async () => {
  await expect(list(randomUUID(), { limit: 1, cursor: "made-up" })).rejects.toMatchObject({ code: "invalid" });
});
