import { expect, test } from "vitest";
import { challengeError, formatChallenge } from "../../server/auth/bearer-challenge.ts";

test("only a request with a bearer token is told that its token is invalid", () => {
  for (const header of ["Bearer x", "bearer x", "BEARER", "Bearer"])
    expect([header, challengeError(header)]).toEqual([header, { error: "invalid_token" }]);
  for (const header of [undefined, "", "Basic bearer", " Bearer x", "Bearers x"])
    expect([header, challengeError(header)]).toEqual([header, {}]);
});

test("a challenge without parameters is the name of the scheme", () => {
  expect(formatChallenge({})).toBe("Bearer");
  expect(formatChallenge({ error: "invalid_token", scope: "read" })).toBe('Bearer error="invalid_token", scope="read"');
});
