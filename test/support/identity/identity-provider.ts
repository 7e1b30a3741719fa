import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export const AUDIENCE = "https://apps.example.com";

/** An external identity provider: discovery, keys, and access tokens signed with them. */
export interface IdentityProvider extends AsyncDisposable {
  issuer: string;
  /** Publishes a new key instead of the previous one. */
  rotateKey(): Promise<void>;
  /** The path of every request so far. */
  requestedPaths: string[];
  issueToken(claims?: Record<string, unknown>): Promise<string>;
}

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const requestedPaths: string[] = [];
  let key: { id: string; privateKey: CryptoKey; jwk: JWK };
  const rotateKey = async (): Promise<void> => {
    const { privateKey, publicKey } = await generateKeyPair("RS256");
    const id = randomUUID();
    key = { id, privateKey, jwk: { ...(await exportJWK(publicKey)), kid: id, alg: "RS256", use: "sig" } };
  };
  await rotateKey();
  const server = createServer((request, response) => {
    requestedPaths.push(request.url ?? "");
    const document = {
      "/.well-known/openid-configuration": { issuer, jwks_uri: `${issuer}/keys` },
      "/keys": { keys: [key.jwk] },
    }[request.url ?? ""];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issueToken = (claims: Record<string, unknown> = {}): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: issuer, aud: AUDIENCE, sub: "someone", iat: now, exp: now + 300, name: "Grace", ...claims };
    return new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid: key.id }).sign(key.privateKey);
  };
  return {
    issuer,
    rotateKey,
    requestedPaths,
    issueToken,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
