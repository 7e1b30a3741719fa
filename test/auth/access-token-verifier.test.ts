import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from "jose";
import { beforeAll, expect, test } from "vitest";
import type { Caller } from "../../domain/shared/caller.ts";
import { type AccessTokenClaims, AccessTokenVerifier } from "../../server/auth/access-token-verifier.ts";
import { hazard, verifies } from "../support/verifies.ts";

const ISSUER = "https://issuer.example.com";
const AUDIENCE = "https://apps.example.com";
const DAY_SECONDS = 86_400;
const CALLER: Caller = {
  orgId: "organization",
  userId: "user",
  role: "member",
  scope: "read",
  credential: { kind: "access_token", id: "session" },
};

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
beforeAll(async () => {
  keys = await generateKeyPair("RS256");
});

/** Verifies tokens with one key for every id but `k2`, and records the claims that it passes on. */
function createVerifier() {
  const resolved: AccessTokenClaims[] = [];
  const verifier = new AccessTokenVerifier({
    issuer: () => ISSUER,
    audiences: () => ["https://other.example.com", AUDIENCE],
    getKey: async (id) => (id === "k2" ? null : keys.publicKey),
    resolveCaller: async (claims) => {
      resolved.push(claims);
      return claims.sub === "unknown" ? null : CALLER;
    },
  });
  return { verifier, resolved };
}

/** Signs a valid token in which some header parameters and claims are replaced. */
function sign(header: Partial<JWTHeaderParameters> = {}, claims: Record<string, unknown> = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: "someone", iat: now, exp: now + 300, ...claims })
    .setProtectedHeader({ alg: "RS256", kid: "k1", ...header })
    .sign(keys.privateKey);
}

test("a token of each type of access token is accepted, whatever the case, and its result is not cached", async () => {
  for (const [typ, type] of [
    [undefined, "jwt"],
    ["JWT", "jwt"],
    ["at+jwt", "at+jwt"],
    ["AT+JWT", "at+jwt"],
  ]) {
    const { verifier, resolved } = createVerifier();
    expect(await verifier.verify(await sign({ typ }))).toEqual({ caller: CALLER, cacheableUntil: null });
    expect(resolved).toEqual([expect.objectContaining({ sub: "someone", iss: ISSUER, type })]);
  }
});

verifies(hazard(24), "a token with an unacceptable claim or header identifies no caller", async () => {
  const now = Math.floor(Date.now() / 1000);
  const invalid: Record<string, Promise<string>> = {
    "another type": sign({ typ: "logout+jwt" }),
    "an empty subject": sign({}, { sub: "" }),
    "no subject": sign({}, { sub: undefined }),
    "no time of issue": sign({}, { iat: undefined }),
    "no expiry": sign({}, { exp: undefined }),
    "expired longer ago than clocks may differ": sign({}, { exp: now - 30 }),
    "issued more than a day ago": sign({}, { iat: now - DAY_SECONDS - 60 }),
    "issued in the future": sign({}, { iat: now + 60 }),
    "another issuer": sign({}, { iss: AUDIENCE }),
    "another audience": sign({}, { aud: ISSUER }),
    "an unknown key": sign({ kid: "k2" }),
    "no key id": sign({ kid: undefined }),
    "another algorithm": sign({ alg: "PS256" }).catch(() => signWithPs256()),
  };
  for (const [defect, token] of Object.entries(invalid)) {
    const { verifier, resolved } = createVerifier();
    expect([defect, await verifier.verify(await token), resolved]).toEqual([defect, null, []]);
  }
});

async function signWithPs256(): Promise<string> {
  const { privateKey } = await generateKeyPair("PS256");
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: "someone", iat: now, exp: now + 300 })
    .setProtectedHeader({ alg: "PS256", kid: "k1" })
    .sign(privateKey);
}

verifies(
  hazard(24),
  "a token whose header contains or locates a key is rejected before the key is looked up",
  async () => {
    const parameters = {
      jwk: await exportJWK(keys.publicKey),
      jku: "https://keys.example.com",
      x5u: "https://keys.example.com",
      x5c: ["AAAA"],
    };
    for (const [name, value] of Object.entries(parameters)) {
      const { verifier } = createVerifier();
      expect([name, await verifier.verify(await sign({ [name]: value }))]).toEqual([name, null]);
    }
  },
);

test("clocks may differ by a few seconds, and a token is accepted for a day at most", async () => {
  const now = Math.floor(Date.now() / 1000);
  for (const claims of [{ exp: now - 1 }, { iat: now - DAY_SECONDS + 60 }])
    expect(await createVerifier().verifier.verify(await sign({}, claims))).not.toBeNull();
});

test("a valid token of an unknown user identifies no caller", async () => {
  expect(await createVerifier().verifier.verify(await sign({}, { sub: "unknown" }))).toBeNull();
});

test("an error of the key lookup is an internal error, and does not make the token invalid", async () => {
  const verifier = new AccessTokenVerifier({
    issuer: () => ISSUER,
    audiences: () => [AUDIENCE],
    getKey: () => Promise.reject(new Error("no connection")),
    resolveCaller: async () => CALLER,
  });
  await expect(verifier.verify(await sign())).rejects.toThrow("no connection");
});

test("only a JWT of the issuer has the format of its tokens", async () => {
  const { verifier } = createVerifier();
  const token = await sign();
  const [header, payload, signature] = token.split(".");
  const otherTexts = [
    await sign({}, { iss: AUDIENCE }),
    await sign({}, { iss: undefined }),
    `${header}.${payload}`,
    `${token}.${signature}`,
    `${header}.bm90IEpTT04.${signature}`,
    ` ${token}`,
    `${token}\n`,
    "",
  ];
  expect(verifier.matchesFormat(token)).toBe(true);
  expect(otherTexts.map((text) => verifier.matchesFormat(text))).toEqual(otherTexts.map(() => false));
});
