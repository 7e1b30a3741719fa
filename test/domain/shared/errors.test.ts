import { expect, test } from "vitest";
import { NO_CONNECTION, translateDatabaseOutage } from "../../../domain/shared/database-outage.ts";
import {
  BuildFailure,
  InsufficientScope,
  RateLimited,
  retryAfterSeconds,
  ServiceError,
} from "../../../domain/shared/errors.ts";

const withCode = (code: string) => Object.assign(new Error("any"), { code });

test("an error that says that the database is unreachable becomes `unavailable`, with the error as its cause", () => {
  const lost = new Error("Connection terminated unexpectedly");
  for (const error of [withCode(NO_CONNECTION), withCode("57P01"), withCode("57P02"), withCode("57P03"), lost])
    expect(translateDatabaseOutage(error)).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("temporarily unavailable"),
      cause: error,
    });
});

test("any other error is left as it is", () => {
  const others = [withCode("57014"), withCode("23505"), new Error("any"), { code: "57P01" }, "57P01", null, undefined];
  for (const error of others) expect(translateDatabaseOutage(error)).toBe(error);
});

test("only a rate limit and an outage say when to try again", () => {
  expect(retryAfterSeconds(new RateLimited("wait", 42))).toBe(42);
  expect(retryAfterSeconds(new ServiceError("unavailable", "later"))).toBe(1);
  for (const code of ["invalid", "conflict", "rate_limited"] as const)
    expect(retryAfterSeconds(new ServiceError(code, "no"))).toBeNull();
});

test("an error has its name, code, cause and what the caller needs", () => {
  const cause = new Error("reason");
  expect(new ServiceError("conflict", "taken", { cause })).toMatchObject({
    name: "ServiceError",
    code: "conflict",
    cause,
  });
  expect(new RateLimited("wait", 1)).toMatchObject({ name: "RateLimited", code: "rate_limited" });
  expect(new BuildFailure("user", "broken", "Correct it.", { cause })).toMatchObject({
    name: "BuildFailure",
    kind: "user",
    message: "broken",
    advice: "Correct it.",
    cause,
  });
});

test("an insufficient scope names the required scope and what the token has", () => {
  for (const [granted, has] of [
    ["read", 'has the scope "read"'],
    [null, "has no scope of this service"],
  ] as const)
    expect(new InsufficientScope("deploy", granted)).toMatchObject({
      name: "InsufficientScope",
      code: "forbidden",
      required: "deploy",
      message: `Scope "deploy" required. This token ${has}. Use a token with the scope "deploy".`,
    });
});
