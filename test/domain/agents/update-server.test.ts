import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { AgentServer } from "../../../domain/agents/agent-server.entity.ts";
import { updateServer, type UpdateServer } from "../../../domain/agents/update-server.ts";
import { callerOf, GATEWAY_TOKEN, givenServer, tokenCipher } from "../../support/agents/given-server.ts";
import { ScriptedHosts } from "../../support/agents/scripted-hosts.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";
import { nextMillisecond } from "../../support/next-millisecond.ts";

const orm = sharedDatabase();
const URL = "wss://gateway.example.com";
const OTHER_URL = "wss://other.example.com";

/** The servers whose connections were announced as changed. */
let announced: string[];

beforeEach(() => {
  announced = [];
});

function update(orgId: string, change: UpdateServer) {
  const serverChanges = { announce: (id: string) => void announced.push(id), listen: () => () => undefined };
  return updateServer(
    { em: orm().em, hosts: new ScriptedHosts(), tokenCipher, serverChanges },
    callerOf(orgId),
    change,
  );
}

const stored = (id: string) => orm().em.fork().findOneOrFail(AgentServer, { id });
const tokenOf = ({ id, sealedToken }: AgentServer) => tokenCipher.open(sealedToken!, [id]);

test("a new name changes nothing of the connection", async () => {
  const { orgId, serverId: id } = await givenServer(orm(), { status: "ready" });
  const before = await stored(id);
  expect(await update(orgId, { id, name: "Office" })).toEqual({
    server_id: id,
    name: "Office",
    kind: "openclaw",
    url: URL,
    status: "ready",
    status_since: before.statusSince.toISOString(),
    status_message: null,
  });
  before.name = "Office";
  expect(await stored(id)).toEqual(before);
  expect(announced).toEqual([]);
});

test.each([
  ["a token", { token: "new" }, URL],
  ["a URL with a token", { url: OTHER_URL, token: "new" }, OTHER_URL],
])("with %s the service connects again", async (_, change, url) => {
  const { orgId, serverId: id } = await givenServer(orm());
  const bystander = await givenServer(orm(), { orgId });
  const other = await stored(bystander.serverId);
  await orm().em.fork().nativeUpdate(AgentServer, { id }, { status: "unauthorized", statusMessage: "Wrong token." });
  const before = await stored(id);
  await nextMillisecond();
  expect(await update(orgId, { id, ...change })).toMatchObject({ name: "Server", status: "connecting", url });
  const after = await stored(id);
  expect(after).toMatchObject({ url, status: "connecting", statusMessage: null, connectionVersion: 2 });
  expect([tokenOf(after), after.statusSince > before.statusSince, announced]).toEqual(["new", true, [id]]);
  expect(await stored(bystander.serverId)).toEqual(other);
});

test("of simultaneous changes each one is another connection", async () => {
  const { orgId, serverId: id } = await givenServer(orm());
  await Promise.all(["a", "b", "c", "d"].map((token) => update(orgId, { id, token })));
  expect((await stored(id)).connectionVersion).toBe(5);
});

describe("a change is rejected, and nothing is stored", () => {
  test.each<[what: string, change: Partial<UpdateServer>, message: string]>([
    ["without a value", {}, "Nothing to change"],
    ["with a name that is not allowed", { name: "" }, "name: must be one line"],
    ["with a URL without a token", { url: OTHER_URL }, "token: is required with url"],
    ["with a token that no gateway has", { token: "a b" }, "token: must have 1 to"],
    ["with a URL and a token that no gateway has", { url: OTHER_URL, token: "" }, "token: must have 1 to"],
    ["with a URL that is not allowed", { url: "https://a", token: "new" }, "url: must be a WebSocket URL"],
  ])("%s", async (_, change, message) => {
    const { orgId, serverId: id } = await givenServer(orm());
    const before = await stored(id);
    await expect(update(orgId, { id, ...change })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(message),
    });
    expect([await stored(id), announced]).toEqual([before, []]);
    expect(tokenOf(before)).toBe(GATEWAY_TOKEN);
  });

  test("with a token for a managed server", async () => {
    const { orgId, serverId: id } = await givenServer(orm(), { isManaged: true });
    const before = await stored(id);
    for (const change of [{ token: "new" }, { token: "new", url: OTHER_URL, name: "Office" }])
      await expect(update(orgId, { id, ...change })).rejects.toMatchObject({ code: "conflict" });
    expect([await stored(id), announced]).toEqual([before, []]);
  });

  test("for a server of another organization, as for an unknown one", async () => {
    const { orgId, serverId: id } = await givenServer(orm());
    const before = await stored(id);
    for (const [org, server] of [
      [randomUUID(), id],
      [orgId, randomUUID()],
    ] as const)
      await expect(update(org, { id: server, name: "Mine", token: "new" })).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringMatching(/^Server not found/),
      });
    expect([await stored(id), announced]).toEqual([before, []]);
  });
});
