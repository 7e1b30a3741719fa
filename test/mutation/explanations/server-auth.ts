import type { Explanation } from "./explanation.ts";

const ACROSS_PROCESSES =
  "`tokens-across-processes.test.ts` detects it; the area leaves it out, as it starts processes.";
const EXTERNAL_PROVIDER = "`external-provider.test.ts` runs this code; the area leaves it out, as it is slow.";

export const SERVER_AUTH: Record<string, Explanation[]> = {
  "server/auth/access-token-verifier.ts": [
    {
      original: "{ return null; }",
      reason: "Equivalent: the function then returns `undefined`, which is no issuer either.",
    },
  ],
  "server/auth/authenticator.ts": [
    {
      original: '"base64url"',
      reason: "Equivalent in practice: Node then encodes the hash as UTF-8. It is only a key of two caches.",
    },
    {
      original: "cacheableUntil === null",
      replacement: "false",
      reason: "Equivalent: `null - Date.now()` is negative, so the result is not cached either.",
    },
    {
      original: "true",
      replacement: "false",
      reason: "Equivalent: only the presence of the key is read.",
    },
    {
      original: '"Too many requests with an invalid token from this address. Check the token, then wait."',
      reason: "The text of an error.",
    },
    {
      original:
        '"X-Service-Org-Id: you are not a member of this organization, or the token is limited to another one. Omit the header to use the token\'s organization."',
      reason: "The text of an error. A test checks that it is the same for every organization.",
    },
  ],
  "server/auth/build-authenticators.ts": [
    { original: "clearOnChange(authenticator);", reason: ACROSS_PROCESSES },
    { original: "clearOnChange(gatewayAuthenticator);", reason: ACROSS_PROCESSES },
    {
      original: '"org_id"',
      reason: "`consented-organization.test.ts` detects it; the area leaves it out, as it is slow.",
    },
    {
      original: "apiVerifiers.push(externalAccessTokens(config.oidc, orm, membershipResolver));",
      reason: EXTERNAL_PROVIDER,
    },
    {
      original:
        "{ const keys = new RemoteJwks(issuer); const users = new ExternalUsers(orm); return new AccessTokenVerifier({ issuer: () => issuer, audiences: () => [audience],\u2026",
      reason: EXTERNAL_PROVIDER,
    },
    {
      original:
        "{ issuer: () => issuer, audiences: () => [audience], getKey: (id) => keys.getKey(id), resolveCaller: async (claims) => membershipResolver.resolveCaller({ userId\u2026",
      reason: EXTERNAL_PROVIDER,
    },
    { original: "() => issuer", reason: EXTERNAL_PROVIDER },
    { original: "() => [audience]", reason: EXTERNAL_PROVIDER },
    { original: "[audience]", reason: EXTERNAL_PROVIDER },
    { original: "(id) => keys.getKey(id)", reason: EXTERNAL_PROVIDER },
    {
      original:
        'async (claims) => membershipResolver.resolveCaller({ userId: await users.resolveUserId(claims), sessionId: null, orgId: null, issuedAt: claims.iat, scope: "ever\u2026',
      reason: EXTERNAL_PROVIDER,
    },
    {
      original:
        '{ userId: await users.resolveUserId(claims), sessionId: null, orgId: null, issuedAt: claims.iat, scope: "everything", clientId: null, issuedOrgId: null, }',
      reason: EXTERNAL_PROVIDER,
    },
    { original: '"everything"', reason: EXTERNAL_PROVIDER },
    { original: "config.oidc !== null", reason: EXTERNAL_PROVIDER },
    {
      original: 'type === "at+jwt"',
      replacement: "true",
      reason: "Equivalent for the tokens of the service: those of a session name no client.",
    },
    {
      original: 'typeof claim === "string"',
      replacement: "true",
      reason: "Not caught: an access token of an OAuth client without a scope would fail with an internal error.",
    },
  ],
  "server/auth/external-users.ts": [
    {
      original: "provisioned !== null",
      reason: "Equivalent unless the user is deleted between the two queries. Then the token has no user.",
    },
    { original: "cached !== undefined", reason: "Equivalent but slower: the user is read from the database." },
    {
      original: "this.#userIdByIdentity.set(key, userId);",
      reason: "Equivalent but slower: the user is read from the database.",
    },
    {
      original: "found !== null",
      reason: "Equivalent but slower: the insertion violates the unique constraint, and the user is found afterwards.",
    },
    {
      original: 'error instanceof UniqueConstraintViolationException || (error as { code?: unknown }).code === "23505"',
      reason: "Equivalent: after any other error the user is not found, and the error is thrown.",
    },
  ],
  "server/auth/remote-jwks.ts": [
    { original: "{ cause: error }", reason: "The cause is for the log." },
    {
      original:
        "{ timeoutDuration: REQUEST_TIMEOUT_MS, cooldownDuration: REFETCH_INTERVAL_MS, cacheMaxAge: KEYS_TTL_MS, }",
      reason: EXTERNAL_PROVIDER,
    },
  ],
  "server/auth/local-jwks.ts": [
    {
      original: "cached.validUntil > Date.now()",
      replacement: "cached.validUntil >= Date.now()",
      reason: "Differs for one millisecond.",
    },
    { original: "validUntil <= Date.now()", reason: "Differs for one millisecond." },
    { original: "true", reason: "Equivalent: only the presence of the key is read." },
  ],
  "server/auth/bearer-challenge.ts": [
    {
      original: '""',
      reason: "Equivalent: neither text starts with the name of the scheme.",
    },
  ],
};
