import { randomUUID } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { RemoteJwks } from "../../server/auth/remote-jwks.ts";
import { startIdentityProvider } from "../support/identity/identity-provider.ts";

/** A server on loopback with one response for every request. */
async function serve(respond: RequestListener): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

test("the provider's key is found by its id, and an unknown key id is not an error", async () => {
  await using provider = await startIdentityProvider();
  const token = await provider.issueToken();
  const { kid } = JSON.parse(Buffer.from(token.split(".")[0]!, "base64url").toString()) as { kid: string };
  const keys = new RemoteJwks(provider.issuer);
  expect((await keys.getKey(kid))?.type).toBe("public");
  expect(await keys.getKey(randomUUID())).toBeNull();
  expect(provider.requestedPaths[0]).toBe("/.well-known/openid-configuration");
});

test("a trailing slash of the issuer is not repeated in the discovery URL", async () => {
  const paths: string[] = [];
  await using server = await serve((request, response) => {
    paths.push(request.url ?? "");
    const issuer = `http://${request.headers.host}/tenant//`;
    response.end(JSON.stringify({ issuer, jwks_uri: `http://${request.headers.host}/keys` }));
  });
  const failure = { message: expect.stringContaining("cannot fetch the keys"), cause: expect.any(Error) };
  await expect(new RemoteJwks(`${server.url}/tenant//`).getKey("k1")).rejects.toMatchObject(failure);
  expect(paths).toEqual(["/tenant/.well-known/openid-configuration", "/keys"]);
});

test("a discovery document that names another issuer is rejected, and its keys are not fetched", async () => {
  const paths: string[] = [];
  await using server = await serve((request, response) => {
    paths.push(request.url ?? "");
    const url = `http://${request.headers.host}`;
    response.end(JSON.stringify({ issuer: "https://elsewhere.example.com", jwks_uri: `${url}/keys` }));
  });
  const error: unknown = await new RemoteJwks(server.url).getKey("k1").catch((reason: unknown) => reason);
  expect(String(error)).toContain("OIDC_ISSUER");
  expect(String((error as Error).cause)).toContain("another issuer");
  expect(paths).toEqual(["/.well-known/openid-configuration"]);
});

test("a redirect of the discovery document is not followed", async () => {
  const paths: string[] = [];
  await using server = await serve((request, response) => {
    paths.push(request.url ?? "");
    response.writeHead(302, { location: "/elsewhere" }).end();
  });
  await expect(new RemoteJwks(server.url).getKey("k1")).rejects.toThrow("Discovery failed");
  expect(paths).toHaveLength(1);
});

test("after a failed discovery the next token tries again", async () => {
  let isBroken = true;
  const paths: string[] = [];
  await using server = await serve((request, response) => {
    paths.push(request.url ?? "");
    const issuer = `http://${request.headers.host}`;
    const document = request.url === "/keys" ? { keys: [] } : { issuer, jwks_uri: `${issuer}/keys` };
    response.writeHead(isBroken ? 500 : 200).end(isBroken ? "{}" : JSON.stringify(document));
  });
  const keys = new RemoteJwks(server.url);
  await expect(keys.getKey("k1")).rejects.toThrow("Discovery failed");
  isBroken = false;
  expect([await keys.getKey("k1"), await keys.getKey("k1")]).toEqual([null, null]);
  expect(paths.filter((path) => path.includes("well-known"))).toHaveLength(2);
});
