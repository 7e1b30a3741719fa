import type { Explanation } from "./explanation.ts";

const ONE_MILLISECOND = "Differs for one millisecond.";

export const DOMAIN_TOKENS: Record<string, Explanation[]> = {
  "domain/tokens/issue-token.ts": [{ original: "date.getTime() <= Date.now()", reason: ONE_MILLISECOND }],
  "domain/tokens/machine-token-verifier.ts": [
    { original: "expiresAt <= Date.now()", reason: ONE_MILLISECOND },
    { original: "lastUsedAt !== null", reason: "Equivalent: a date from `null` is in 1970, so the time is stored." },
    {
      original: "now - new Date(lastUsedAt as string).getTime() < LAST_USED_INTERVAL_MS",
      reason: ONE_MILLISECOND,
    },
  ],
  "domain/tokens/rotate-token.ts": [{ original: "expiry <= now", reason: ONE_MILLISECOND }],
  "domain/tokens/select-tokens.ts": [
    { original: "userId === null", reason: "Equivalent: in SQL no user id equals null." },
  ],
  "domain/tokens/token-cache.ts": [
    {
      original: "generation !== this.#generation",
      replacement: "false",
      reason: "Equivalent: the entry is stored with its earlier generation, so it is never used.",
    },
    { original: "this.#generation += 1", reason: "Equivalent: only the equality of generations counts." },
  ],
  "domain/tokens/token-format.ts": [
    {
      original: "digits.length < length",
      reason: "Equivalent: of one more group of digits, which is all zeros, nothing remains after the slice.",
    },
  ],
  "domain/tokens/token-permissions.ts": [
    {
      original: '"Only a user can issue a personal access token, for themselves. Sign in, then try again."',
      reason: "The text of an error.",
    },
    {
      original: '"Role admin or owner required to issue API keys and gateway tokens."',
      reason: "The text of an error.",
    },
  ],
  "domain/tokens/token-quota.ts": [
    {
      original: '`tokens ${orgId} ${owner ?? ""}`',
      reason: "Equivalent but slower: requests for every quota wait for each other.",
    },
    { original: 'owner ?? ""', reason: "Equivalent but slower: requests for several quotas wait for each other." },
    { original: '""', reason: "Equivalent: the name of the lock is the same for the same quota." },
  ],
};
