import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { clientAddress, trustedPeers } from "../../server/http/client-address.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness } from "../support/service/harness.ts";

/** Signs in once with each forwarding header. Returns the client addresses in the audit log. */
async function recordAddresses(trustedProxies: string[], forwarded: string): Promise<Set<string | null>> {
  await using harness = await createHarness({ config: { trustedProxies } });
  const { publicUrl } = harness.service;
  const owner = new TestUser(publicUrl);
  await owner.signUp();
  const credentials = { email: owner.email, password: owner.password };
  for (const header of ["x-forwarded-for", "x-real-ip", "x-client-address", "forwarded", "cf-connecting-ip"]) {
    const value = header === "forwarded" ? `for=${forwarded}` : forwarded;
    await owner.post("/sign-in/email", credentials, { [header]: value });
  }
  const { events } = await rpcClient(publicUrl, await owner.accessToken()).audit.list.query({});
  const signIns = events.filter(({ action }) => action === "sign-in/email");
  expect(signIns).toHaveLength(5);
  return new Set(signIns.map(({ address }) => address));
}

test("X-Forwarded-For of a trusted proxy sets the client address, and no other header does", async () => {
  expect(await recordAddresses(["127.0.0.0/8"], "203.0.113.7")).toEqual(new Set(["203.0.113.7", "127.0.0.1"]));
});

test("the client address is the one that the trusted proxy added, not one that the client sent", async () => {
  expect(await recordAddresses(["127.0.0.1"], "198.51.100.1, 203.0.113.7")).toContain("203.0.113.7");
});

test("X-Forwarded-For of an untrusted peer is ignored", async () => {
  expect(await recordAddresses([], "203.0.113.7")).toEqual(new Set(["127.0.0.1"]));
  expect(await recordAddresses(["192.0.2.1"], "203.0.113.7")).toEqual(new Set(["127.0.0.1"]));
});

test("X-Forwarded-Host and X-Forwarded-Proto do not change any URL in a response", async () => {
  await using harness = await createHarness({ config: { trustedProxies: ["127.0.0.1"] } });
  const { publicUrl } = harness.service;
  const headers = { "x-forwarded-host": "elsewhere.example.com", "x-forwarded-proto": "https" };
  for (const path of [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource/mcp",
    "/v1/openapi.json",
  ]) {
    const response = await fetch(publicUrl + path, { headers });
    expect([path, response.status, (await response.text()).includes("elsewhere")]).toEqual([path, 200, false]);
  }
  const unauthenticated = await fetch(`${publicUrl}/mcp`, { method: "POST", headers });
  expect(unauthenticated.headers.get("www-authenticate")).not.toContain("elsewhere");
});

test("a closed connection has an empty client address, whatever its X-Forwarded-For says", async () => {
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
