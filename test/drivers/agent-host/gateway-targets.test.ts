import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { describe, expect, test } from "vitest";
import { failure } from "../../support/agents/host-failure.ts";
import { ScriptedGateway } from "../../support/agents/scripted-openclaw-gateway.ts";
import { createHosts, settingsOf } from "../../support/agents/scripted-openclaw-host.ts";
import { createCertificate } from "../../support/identity/certificate.ts";

const signal = (): AbortSignal => AbortSignal.timeout(60_000);

describe("where the service connects to", () => {
  const PUBLIC_ONLY = { networks: [] };
  const INVALID: [url: string, problem: RegExp][] = [
    ["https://gateway.example.com", /must be a WebSocket URL/],
    ["gateway.example.com", /must be a WebSocket URL/],
    [`wss://gateway.example.com/${"x".repeat(500)}`, /must be a WebSocket URL/],
    ["wss://user:secret@gateway.example.com", /must have no credentials/],
    ["wss://gateway.example.com?token=secret", /must have no credentials/],
    ["wss://gateway.example.com/#token=secret", /must have no credentials/],
    ["ws://gateway.example.com", /must start with wss/],
    ["wss://127.0.0.1", /AGENT_HOST_PRIVATE_NETWORKS/],
    ["wss://[::1]", /AGENT_HOST_PRIVATE_NETWORKS/],
    ["wss://0x7f000001", /AGENT_HOST_PRIVATE_NETWORKS/],
    ["wss://10.1.2.3:8443", /AGENT_HOST_PRIVATE_NETWORKS/],
    ["wss://169.254.169.254", /AGENT_HOST_PRIVATE_NETWORKS/],
    ["wss://8.8.8.8:25", /AGENT_HOST_PRIVATE_NETWORKS/],
  ];

  test.each(INVALID)("%s is refused", (url, problem) => {
    using hosts = createHosts(PUBLIC_ONLY);
    expect(hosts.findUrlProblem(url)).toMatch(problem);
  });

  test("a public address is accepted over wss, and a private one in an allowed network", () => {
    const ports = [80, 443, 18_789].map((port) => ({ from: port, to: port }));
    using hosts = createHosts({ networks: ["10.0.0.0/8", "fd00::/8", "192.168.1.7"], ports });
    const problems = (urls: string[]) => urls.map((url) => hosts.findUrlProblem(url) === null);
    expect(
      problems(["wss://gateway.example.com/path", "wss://8.8.8.8", "ws://10.1.2.3:18789", "ws://[fd00::1]"]),
    ).toEqual([true, true, true, true]);
    expect(problems(["ws://192.168.1.7", "ws://192.168.1.8", "ws://8.8.8.8", "ws://[fd00:ec2::254]"])).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test("in an allowed network, only the allowed ports are accepted", async () => {
    await using gateway = await ScriptedGateway.open();
    const port = Number(new URL(gateway.url).port);
    const allowed = [
      { from: 443, to: 443 },
      { from: 18_789, to: 18_790 },
    ].filter(({ from, to }) => port < from || port > to);
    using hosts = createHosts({ ports: allowed });
    const problemOf = (each: number) => hosts.findUrlProblem(`wss://127.0.0.1:${each}`);
    expect([443, 18_789, 18_790].map(problemOf)).toEqual([null, null, null]);
    for (const each of [80, 5432, 6379, 18_788, 18_791])
      expect(problemOf(each)).toMatch(/must have one of the ports 443, 18789-18790\. .*AGENT_HOST_PRIVATE_PORTS/);
    const url = gateway.url.replace("127.0.0.1", "localhost");
    const error = await failure(hosts.open(settingsOf({ url, token: gateway.token })).listAgents(signal()));
    expect([error.code, error.message, gateway.opened]).toEqual([
      "unreachable",
      expect.stringContaining("AGENT_HOST_PRIVATE_PORTS"),
      0,
    ]);
  });

  const REBINDING = ["10.1.2.3", "127.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::7f00:1"];

  test.each(REBINDING)("a host name that resolves to %s is not connected to", async (address) => {
    await using gateway = await ScriptedGateway.open();
    const lookup = () => Promise.resolve([{ address, family: address.includes(":") ? 6 : 4 }]);
    using hosts = createHosts({ networks: [], lookup });
    const url = gateway.url.replace("ws://127.0.0.1", "wss://gateway.example.com");
    const error = await failure(hosts.open(settingsOf({ url, token: gateway.token })).listAgents(signal()));
    expect([error.code, error.message, gateway.opened]).toEqual([
      "unreachable",
      expect.stringContaining("to which this service does not connect"),
      0,
    ]);
  });

  test("a name is resolved once for each connection, so the checked address is the one that is used", async () => {
    const { cert, key } = createCertificate("gateway.example.com");
    await using gateway = await ScriptedGateway.open({ tls: { cert, key } });
    let lookups = 0;
    const lookup = () => Promise.resolve([{ address: ++lookups === 1 ? "127.0.0.1" : "10.1.2.3", family: 4 }]);
    using hosts = createHosts({ lookup, trustedCertificates: cert });
    expect((await hosts.open(settingsOf(gateway)).listAgents(signal())).mainId).toBe("main");
    expect(lookups).toBe(1);
  });

  test("a certificate of another host name is refused", async () => {
    const { cert, key } = createCertificate("other.example.com");
    await using gateway = await ScriptedGateway.open({ tls: { cert, key } });
    const lookup = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
    using hosts = createHosts({ lookup, trustedCertificates: cert });
    const error = await failure(hosts.open(settingsOf(gateway)).listAgents(signal()));
    expect([error.code, error.message, gateway.opened]).toEqual([
      "unreachable",
      expect.stringContaining("certificate"),
      0,
    ]);
  });

  test("a host that responds with HTTP or redirects is not a gateway", async () => {
    await using gateway = await ScriptedGateway.open();
    await using redirect = createTcpServer((socket) => {
      socket.resume().end(`HTTP/1.1 302 Found\r\nLocation: ${gateway.url}\r\nContent-Length: 0\r\n\r\n`);
      socket.on("error", () => undefined);
    }).listen(0, "127.0.0.1");
    await once(redirect, "listening");
    const url = `ws://127.0.0.1:${(redirect.address() as AddressInfo).port}`;
    using hosts = createHosts();
    const error = await failure(hosts.open(settingsOf({ url, token: gateway.token })).listAgents(signal()));
    expect([error.code, error.message, gateway.opened]).toEqual([
      "unsupported",
      expect.stringContaining("HTTP status 302"),
      0,
    ]);
  });
});
