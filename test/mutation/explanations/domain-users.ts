import type { Explanation } from "./explanation.ts";

const OUTER_JOIN = "Equivalent: both columns of the outer join are null, or none.";
const SAME_KEY = "Equivalent: the key is the same for the same user, session and client.";

export const DOMAIN_USERS: Record<string, Explanation[]> = {
  "domain/users/consented-organization.ts": [
    { original: "id !== null", replacement: "true", reason: "Equivalent: the set of valid values has no null." },
  ],
  "domain/users/limit-sign-ins.ts": [
    {
      original: "sha256Hex(email.toLowerCase()).slice(0, 32)",
      reason: "Equivalent: the key of the counter is only longer.",
    },
    { original: "email.toLowerCase()", reason: "Equivalent: the key is the same for every spelling of an address." },
  ],
  "domain/users/membership-resolver.ts": [
    { original: "caller.userId === null", reason: "Equivalent but slower: no user with this id is found." },
    { original: '""', reason: SAME_KEY },
    { original: "first.expiresAt === null", reason: "Equivalent: a date from `null` is in 1970, so it has passed." },
    {
      original: "new Date(first.expiresAt).getTime() <= Date.now()",
      reason: "Differs for one millisecond.",
    },
    { original: "organizationId === null || role === null", reason: OUTER_JOIN },
    { original: "organizationId === null", reason: OUTER_JOIN },
    { original: "role === null", reason: OUTER_JOIN },
    { original: "timestamp === null", reason: "Equivalent: the time of a date from `null` is 0." },
  ],
  "domain/users/get-account.ts": [
    { original: "userId === null", replacement: "false", reason: "Equivalent but slower: no user has the id `null`." },
    {
      original: '"personal_access_token"',
      reason: "Not caught: the gateway, which accepts these tokens, has no such tool.",
    },
  ],
};
