import { describe, expect, test } from "vitest";
import { failure } from "../../support/agents/host-failure.ts";
import type { Misbehavior } from "../../support/agents/scripted-openclaw-gateway.ts";
import { openScriptedHost, settingsOf } from "../../support/agents/scripted-openclaw-host.ts";

const signal = (): AbortSignal => AbortSignal.timeout(60_000);
const timeouts = (call: number, connect = 10_000) => ({ connect, call, ping: 30_000 });

describe("a gateway that does not respond as it should", () => {
  const CASES: [Misbehavior, code: string, message: RegExp][] = [
    ["text that is not JSON", "invalid_response", /something else than its protocol allows/],
    ["a binary message", "invalid_response", /something else than its protocol allows/],
    ["a response of another form", "invalid_response", /agents\.list has not the expected form/],
    ["the end of the connection", "unreachable", /has closed the connection/],
    ["1 GB in one message", "invalid_response", /a larger message than is allowed/],
    ["1 GB in many parts", "invalid_response", /more than is allowed|a larger message than is allowed/],
    ["1 GB of small events", "invalid_response", /more than is allowed/],
  ];

  test.each(CASES)("%s fails the call, and the next call works", async (misbehavior, code, message) => {
    await using opened = await openScriptedHost();
    const { gateway, host } = opened;
    gateway.misbehavior.set("agents.list", misbehavior);
    const error = await failure(host.listAgents(signal()));
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
    gateway.misbehavior.clear();
    await expect.poll(() => host.problem).toBe(null);
    expect((await host.listAgents(signal())).mainId).toBe("main");
    // A message of the allowed size, and what the network has buffered.
    expect(gateway.sentBytes).toBeLessThan(64 * 1024 * 1024);
  });

  test("a call without a response ends at its deadline, and a late response changes nothing", async () => {
    await using opened = await openScriptedHost({ timeouts: timeouts(300) });
    const { gateway, host } = opened;
    await expect.poll(() => host.problem).toBe(null);
    gateway.misbehavior.set("agents.list", "no response");
    expect(await failure(host.listAgents(signal()))).toMatchObject({ code: "timed_out" });
    gateway.misbehavior.clear();
    gateway.delayMs = 600;
    expect(await failure(host.listSkills("main", signal()))).toMatchObject({ code: "timed_out" });
    gateway.delayMs = 0;
    expect((await host.listAgents(signal())).agents).toHaveLength(2);
    expect(gateway.opened).toBe(1);
  });

  test("an aborted call ends at once, and the connection stays", async () => {
    await using opened = await openScriptedHost();
    const { gateway, host } = opened;
    await host.listAgents(signal());
    gateway.misbehavior.set("agents.list", "no response");
    const controller = new AbortController();
    const call = host.listAgents(controller.signal);
    const reason = new Error("the caller has left");
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect([gateway.opened, gateway.connections]).toEqual([1, 1]);
  });

  test("a gateway that never sends its challenge is given up", async () => {
    await using opened = await openScriptedHost({ timeouts: timeouts(300, 300) });
    opened.gateway.misbehavior.set("challenge", "no response");
    const other = opened.hosts.open(settingsOf(opened.gateway));
    expect(await failure(other.listAgents(signal()))).toMatchObject({ code: "timed_out" });
  });

  test("more calls than a gateway may have waiting are refused", async () => {
    await using opened = await openScriptedHost();
    const { gateway, host } = opened;
    await host.listAgents(signal());
    gateway.misbehavior.set("sessions.list", "no response");
    const controller = new AbortController();
    const calls = Array.from({ length: 17 }, () =>
      failure(host.listSessions({ agentId: null, limit: 10 }, controller.signal)).catch(() => null),
    );
    expect(await calls[16]).toMatchObject({ code: "overloaded" });
    controller.abort(new Error("enough"));
    expect((await Promise.all(calls)).filter((error) => error !== null)).toHaveLength(1);
  });
});

describe("the agents of a gateway", () => {
  const CHANGES: [what: string, payload: object, code: string][] = [
    ["no agent", { agents: [] }, "invalid_response"],
    ["an agent twice", { agents: [{ id: "main" }, { id: "main" }] }, "invalid_response"],
    ["no default agent", { defaultId: "gone" }, "invalid_response"],
    ["an agent without an id", { agents: [{ name: "Main" }] }, "invalid_response"],
    ["101 agents", { agents: Array.from({ length: 101 }, (_, n) => ({ id: `agent-${n}` })) }, "unsupported"],
  ];

  test.each(CHANGES)("a list with %s is refused as a whole", async (_what, change, code) => {
    await using opened = await openScriptedHost();
    opened.gateway.alter.set("agents.list", (payload) => ({ ...payload, ...change }));
    expect(await failure(opened.host.listAgents(signal()))).toMatchObject({ code });
  });

  test("names are one line without hidden characters, and agents of the gateway itself are left out", async () => {
    await using opened = await openScriptedHost();
    const { state } = opened.gateway;
    state.agents = [
      { id: "main", name: "  Chief\u202E\n of\u0000 staff ", model: { primary: "with space" } },
      { id: "long", name: "x".repeat(5000) },
      { id: "unnamed", name: "\u200F" },
      { id: "openclaw", kind: "system", name: "System" },
    ];
    expect((await opened.host.listAgents(signal())).agents).toEqual([
      { id: "main", name: "Chief of staff", model: null },
      { id: "long", name: "x".repeat(100), model: null },
      { id: "unnamed", name: "unnamed", model: null },
    ]);
  });
});

describe("a message of more than 64 KiB", () => {
  const LARGE = "x".repeat(200_000);

  test("is read, and a small one that follows it is read after it", async () => {
    await using opened = await openScriptedHost();
    const { gateway, host } = opened;
    gateway.alter.set("agents.list", (payload) => ({ ...payload, extra: LARGE }));
    const [listed, skills] = await Promise.all([host.listAgents(signal()), host.listSkills("main", signal())]);
    expect(listed.agents.map(({ id }) => id)).toEqual(["main", "sales"]);
    expect(skills.skills).not.toHaveLength(0);
    expect([gateway.opened, gateway.connections]).toEqual([1, 1]);
  });

  test("of another form fails its call only", async () => {
    await using opened = await openScriptedHost();
    const { gateway, host } = opened;
    gateway.alter.set("agents.list", () => ({ agents: [{ id: 1, name: LARGE }] }));
    const error = await failure(host.listAgents(signal()));
    expect([error.code, error.message]).toEqual([
      "invalid_response",
      expect.stringMatching(/agents\.list has not the/),
    ]);
    expect((await host.listSkills("main", signal())).skills).not.toHaveLength(0);
    expect(gateway.opened).toBe(1);
  });

  test("with too many values ends the connection", async () => {
    await using opened = await openScriptedHost();
    opened.gateway.alter.set("agents.list", (payload) => ({
      ...payload,
      extra: Array.from({ length: 100_001 }, () => 1),
    }));
    const error = await failure(opened.host.listAgents(signal()));
    expect([error.code, error.message]).toEqual(["invalid_response", expect.stringMatching(/something else than/)]);
  });
});
