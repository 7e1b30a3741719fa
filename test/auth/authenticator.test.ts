import { expect, test } from "vitest";
import type { Caller } from "../../domain/shared/caller.ts";
import { RateLimited } from "../../domain/shared/errors.ts";
import { Authenticator } from "../../server/auth/authenticator.ts";
import { MemoryCounter } from "../../server/drivers/counter/memory-counter.ts";
import { hazard, verifies } from "../support/verifies.ts";

const ADDRESS = "192.0.2.1";
const CALLER: Caller = {
  orgId: "organization",
  userId: null,
  role: "admin",
  scope: "read",
  credential: { kind: "api_key", id: "key" },
};

/** An authenticator whose tokens start with `t`, and are valid when they start with `t-valid`. It records each verification. */
function createAuthenticator(cacheableUntil: number | null = null) {
  const verified: string[] = [];
  const verifier = {
    matchesFormat: (token: string) => token.startsWith("t"),
    verify: async (token: string) => {
      verified.push(token);
      return token.startsWith("t-valid") ? { caller: CALLER, cacheableUntil } : null;
    },
  };
  const authenticator = new Authenticator([verifier], new MemoryCounter());
  const authenticate = (token: string, address = ADDRESS) => authenticator.authenticate(`Bearer ${token}`, address);
  const sendInvalidTokens = async (count: number) => {
    for (let at = 0; at < count; at += 1) expect(await authenticate(`t-${at}`)).toBeNull();
  };
  return { authenticator, authenticate, sendInvalidTokens, verified };
}

test("a result is cached until the token expires, and not at all if the verifier forbids it", async () => {
  const now = Date.now();
  for (const [cacheableUntil, verifications] of [
    [null, 3],
    [now + 3_600_000, 1],
    [Infinity, 1],
    [now - 1, 3],
  ] as const) {
    const { authenticate, verified } = createAuthenticator(cacheableUntil);
    for (let at = 0; at < 3; at += 1) expect(await authenticate("t-valid")).toEqual(CALLER);
    expect([cacheableUntil, verified.length]).toEqual([cacheableUntil, verifications]);
  }
});

test("a revocation is noticed at once, because it clears the cache", async () => {
  const { authenticator, authenticate, verified } = createAuthenticator(Infinity);
  await authenticate("t-valid");
  authenticator.clear();
  await authenticate("t-valid");
  expect(verified).toHaveLength(2);
});

verifies(
  hazard(32),
  "the limit of invalid tokens holds per network, and not for tokens that were valid before",
  async () => {
    const { authenticate, sendInvalidTokens } = createAuthenticator();
    expect(await authenticate("t-valid-before")).toEqual(CALLER);
    await sendInvalidTokens(60);
    await expect(authenticate("t-60")).rejects.toThrow(RateLimited);
    // An unknown token is not verified above the limit, because it may be a guess.
    await expect(authenticate("t-valid-new")).rejects.toThrow(RateLimited);
    expect(await authenticate("t-valid-before")).toEqual(CALLER);
    expect(await authenticate("t-valid-new", "192.0.2.2")).toEqual(CALLER);
  },
);

verifies(hazard(32), "valid tokens and tokens of an unknown format do not count as invalid tokens", async () => {
  const { authenticate, sendInvalidTokens, verified } = createAuthenticator();
  for (let at = 0; at < 70; at += 1) expect(await authenticate(`t-valid-${at}`)).toEqual(CALLER);
  for (let at = 0; at < 70; at += 1) expect(await authenticate(`unknown-${at}`)).toBeNull();
  await sendInvalidTokens(60);
  expect(verified).toHaveLength(130);
});

test("a header of more than 8192 characters, or of another form, contains no token", async () => {
  const { authenticator, verified } = createAuthenticator();
  const longest = `Bearer ${"t-valid".padEnd(8192 - 7, "x")}`;
  for (const header of ["Bearer t-valid", "bearer t-valid", "Bearer t-valid==", longest])
    expect([header, await authenticator.authenticate(header, ADDRESS)]).toEqual([header, CALLER]);
  const accepted = verified.length;
  const others = [undefined, "", "Bearer", "Bearer ", "t-valid", "Basic t-valid", " Bearer t-valid"];
  others.push("Bearer t-valid ", "Bearer  t-valid", "Bearer t-valid t-valid", "Bearer t-valid=x", `${longest}x`);
  for (const header of others)
    expect([header, await authenticator.authenticate(header, ADDRESS)]).toEqual([header, null]);
  expect(verified).toHaveLength(accepted);
});
