import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { describe, expect, test } from "vitest";
import { failure } from "../../support/agents/host-failure.ts";
import { writeRequest } from "../../support/agents/host-request-builders.ts";
import { ScriptedGateway } from "../../support/agents/scripted-openclaw-gateway.ts";
import { createHosts, openScriptedHost, settingsOf } from "../../support/agents/scripted-openclaw-host.ts";

const signal = (): AbortSignal => AbortSignal.timeout(60_000);
const timeouts = (call: number, connect = 10_000) => ({ connect, call, ping: 30_000 });

describe("the connection", () => {
  test("one connection serves all calls, with permission only to read", async () => {
    await using opened = await openScriptedHost();
    const { gateway, host } = opened;
    await Promise.all([host.listAgents(signal()), host.listSkills("main", signal()), host.listAgents(signal())]);
    expect([gateway.opened, gateway.calls.map(({ scopes }) => scopes)]).toEqual([
      1,
      [["operator.read"], ["operator.read"], ["operator.read"]],
    ]);
  });

  test("only the connection that replaces instructions may do so, and it is closed afterwards", async () => {
    await using opened = await openScriptedHost();
    const { gateway, host } = opened;
    const { hash } = await host.readInstructions("main", signal());
    await host.writeInstructions(writeRequest({ agentId: "main", content: "# New\n", expectedHash: hash }), signal());
    expect(gateway.calls.at(-1)).toMatchObject({
      method: "agents.files.set",
      scopes: ["operator.read", "operator.admin"],
    });
    await expect.poll(() => gateway.connections).toBe(1);
  });

  test("a lost connection is opened again without a call", async () => {
    await using opened = await openScriptedHost();
    const { gateway, host } = opened;
    await host.listAgents(signal());
    gateway.disconnectAll();
    await expect.poll(() => gateway.opened).toBe(2);
    expect((await host.listAgents(signal())).mainId).toBe("main");
  });

  test("while a gateway is down, calls fail at once with the reason, and work when it is back", async () => {
    const gateway = await ScriptedGateway.open();
    using hosts = createHosts();
    const settings = settingsOf(gateway);
    const host = hosts.open(settings);
    await host.listAgents(signal());
    await gateway[Symbol.asyncDispose]();
    await expect
      .poll(() => host.problem)
      .toMatchObject({ code: "unreachable", message: expect.stringContaining("refuses") });
    expect(await failure(host.listAgents(signal()))).toBe(host.problem);
    await using back = await ScriptedGateway.open({ token: gateway.token, port: Number(new URL(gateway.url).port) });
    await expect.poll(() => host.problem).toBe(null);
    expect([(await host.listAgents(signal())).mainId, back.opened]).toEqual(["main", 1]);
  });

  test("a gateway that closes every connection is tried with growing pauses", async () => {
    await using opened = await openScriptedHost({ backOff: { first: 100, max: 60_000, stable: 60_000 } });
    const { gateway, host } = opened;
    gateway.misbehavior.set("connect", "the end of the connection");
    gateway.disconnectAll();
    await expect.poll(() => gateway.opened).toBeGreaterThan(2);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(gateway.opened).toBeLessThan(8);
    expect(host.problem).toMatchObject({ code: "unreachable" });
  });

  test("other settings of a server replace its connection, and earlier ones do not come back", async () => {
    await using opened = await openScriptedHost();
    const { gateway, hosts, settings } = opened;
    await using other = await ScriptedGateway.open();
    other.state.agents = [{ id: "main", name: "Other" }];
    const moved = { ...settings, url: other.url, token: () => other.token, version: 2 };
    for (const each of [moved, settings])
      expect((await hosts.open(each).listAgents(signal())).agents).toMatchObject([{ name: "Other" }]);
    await expect.poll(() => gateway.connections).toBe(0);
  });

  test("the connection of a removed server is closed, and one that is not used too", async () => {
    await using opened = await openScriptedHost({ idleMs: 200 });
    const { gateway, host, hosts, settings } = opened;
    await host.listAgents(signal());
    await expect.poll(() => gateway.connections).toBe(0);
    await hosts.open(settings).listAgents(signal());
    hosts.closeOthers(new Set());
    await expect.poll(() => gateway.connections).toBe(0);
    expect(await failure(hosts.open({ ...settings, url: "ws://127.0.0.1:1" }).listAgents(signal()))).toMatchObject({
      code: "unreachable",
    });
  });

  test("gateways that never respond do not delay those that do", async () => {
    // They accept connections and send nothing.
    await using silent = createTcpServer((socket) => void socket.resume().on("error", () => undefined));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const url = `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await using gateway = await ScriptedGateway.open();
    using hosts = createHosts({ timeouts: timeouts(10_000, 1000) });
    const { orgId } = settingsOf(gateway);
    const unreachable = Array.from({ length: 50 }, () => hosts.open({ ...settingsOf({ url, token: "" }), orgId }));
    const host = hosts.open({ ...settingsOf(gateway), orgId });
    await host.listAgents(signal());
    expect(unreachable.filter(({ problem }) => problem === "connecting").length).toBeGreaterThan(0);
    hosts.closeOthers(new Set());
  });
});

describe("the credential", () => {
  test("a wrong token is reported as such, and no message contains the token", async () => {
    await using opened = await openScriptedHost();
    const token = "oc-secret-token";
    const host = opened.hosts.open({ ...settingsOf(opened.gateway), token: () => token });
    const error = await failure(host.listAgents(signal()));
    expect([error.code, error.message]).toEqual(["unauthorized", expect.stringContaining("does not accept the token")]);
    expect(JSON.stringify([error, error.message, error.stack, error.cause])).not.toContain(token);
  });

  test("a token that cannot be decrypted is reported as such", async () => {
    await using opened = await openScriptedHost();
    const host = opened.hosts.open({ ...settingsOf(opened.gateway), token: () => null });
    expect(await failure(host.listAgents(signal()))).toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("TOKEN_SECRET"),
    });
  });

  test("a gateway that requires a paired device names the command that approves this service", async () => {
    await using opened = await openScriptedHost({}, { requiresPairing: true });
    const { gateway, hosts, settings } = opened;
    const error = await failure(opened.host.listAgents(signal()));
    expect([error.code, error.message]).toEqual([
      "unauthorized",
      expect.stringContaining("openclaw devices approve 0b5f1c9e-request"),
    ]);
    gateway.approveDevices();
    await expect.poll(() => opened.host.problem).toBe(null);
    // The identity is derived, so it is the same in every process.
    using others = createHosts();
    expect((await others.open(settings).listAgents(signal())).mainId).toBe("main");
    hosts.close(settings.serverId);
  });

  test("a gateway that grants no permission to read is reported as such", async () => {
    await using opened = await openScriptedHost();
    opened.gateway.alter.set("connect", (payload) => ({ ...payload, auth: { role: "operator", scopes: [] } }));
    const host = opened.hosts.open(settingsOf(opened.gateway));
    expect(await failure(host.listAgents(signal()))).toMatchObject({ code: "unauthorized" });
  });
});
