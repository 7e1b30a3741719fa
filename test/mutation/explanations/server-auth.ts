import type { Explanation } from "./explanation.ts";

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
    {
      original: 'type === "at+jwt"',
      replacement: "true",
      reason: "Equivalent for the tokens of the service: those of a session name no client.",
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
