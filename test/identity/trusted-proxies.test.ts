import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { clientAddress, trustedPeers } from "../../server/http/client-address.ts";
import { createHarness } from "../support/service/harness.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";

/** The addresses that the audit log gives for sign-ins under a forwarded address, each in another header. */
async function addressesUnder(trustedProxies: string[], forwarded: string): Promise<Set<string | null>> {
  await using harness = await createHarness({ config: { trustedProxies } });
  const { publicUrl } = harness.service;
  const owner = new TestUser(publicUrl);
  await owner.signUp();
  for (const header of ["x-forwarded-for", "x-real-ip", "x-client-address", "forwarded", "cf-connecting-ip"])
    await owner.post(
      "/sign-in/email",
      { email: owner.email, password: owner.password },
      { [header]: header === "forwarded" ? `for=${forwarded}` : forwarded },
    );
  const { events } = await rpcClient(publicUrl, await owner.accessToken()).audit.list.query({});
  const signedIn = events.filter(({ action }) => action === "sign-in/email");
  expect(signedIn).toHaveLength(5);
  return new Set(signedIn.map(({ address }) => address));
}

test("a forwarded address is believed from a trusted proxy, and no other header is", async () => {
  expect(await addressesUnder(["127.0.0.0/8"], "203.0.113.7")).toEqual(new Set(["203.0.113.7", "127.0.0.1"]));
});

test("a client behind a trusted proxy cannot put an address of its own before that which the proxy saw", async () => {
  expect(await addressesUnder(["127.0.0.1"], "198.51.100.1, 203.0.113.7")).toContain("203.0.113.7");
});

test("a forwarded address is ignored from anybody else", async () => {
  expect(await addressesUnder([], "203.0.113.7")).toEqual(new Set(["127.0.0.1"]));
  expect(await addressesUnder(["192.0.2.1"], "203.0.113.7")).toEqual(new Set(["127.0.0.1"]));
});

test("what a proxy forwards about host and scheme changes no address that the service names", async () => {
  await using harness = await createHarness({ config: { trustedProxies: ["127.0.0.1"] } });
  const { publicUrl } = harness.service;
  const forwarded = { "x-forwarded-host": "elsewhere.example.com", "x-forwarded-proto": "https" };
  for (const path of [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource/mcp",
    "/v1/openapi.json",
  ]) {
    const answer = await fetch(publicUrl + path, { headers: forwarded });
    expect([path, answer.status, (await answer.text()).includes("elsewhere")]).toEqual([path, 200, false]);
  }
  const refused = await fetch(`${publicUrl}/mcp`, { method: "POST", headers: forwarded });
  expect(refused.headers.get("www-authenticate")).not.toContain("elsewhere");
});

test("a peer that has hung up has no address, whatever it said, and that is no fault", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n");
  const [request] = (await once(server, "request")) as [IncomingMessage];
  socket.destroy();
  await once(request.socket, "close");
  for (const ranges of [[], ["127.0.0.1"]]) expect(clientAddress(request, trustedPeers(ranges))).toBe("");
  server.close();
});
