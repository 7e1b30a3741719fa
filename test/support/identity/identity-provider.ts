import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export const AUDIENCE = "https://apps.example.com";

/** An identity provider of somebody else: discovery, keys, and tokens signed with them. */
export interface IdentityProvider extends AsyncDisposable {
  issuer: string;
  /** Publishes a new key and withdraws the ones before. */
  rotate(): Promise<void>;
  /** What was asked for so far, by path. */
  asked: string[];
  token(claims?: Record<string, unknown>): Promise<string>;
}

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const asked: string[] = [];
  let key: { id: string; privateKey: CryptoKey; jwk: JWK };
  const rotate = async (): Promise<void> => {
    const { privateKey, publicKey } = await generateKeyPair("RS256");
    const id = randomUUID();
    key = { id, privateKey, jwk: { ...(await exportJWK(publicKey)), kid: id, alg: "RS256", use: "sig" } };
  };
  await rotate();
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const document = {
      "/.well-known/openid-configuration": { issuer, jwks_uri: `${issuer}/keys` },
      "/keys": { keys: [key.jwk] },
    }[request.url ?? ""];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = (claims: Record<string, unknown> = {}): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: issuer, aud: AUDIENCE, sub: "someone", iat: now, exp: now + 300, name: "Grace", ...claims };
    return new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid: key.id }).sign(key.privateKey);
  };
  return {
    ...{ issuer, rotate, asked, token },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
