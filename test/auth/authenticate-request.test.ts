import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import { MembershipResolver } from "../../domain/users/membership-resolver.ts";
import { Authenticator, authenticateRequest, isStillAuthenticated } from "../../server/auth/authenticator.ts";
import { MemoryCounter } from "../../server/drivers/counter/memory-counter.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

/** The credentials of a user with one organization. The token `valid` is valid, and `broken` fails with an error. */
async function createAuthentication() {
  const { org_id: orgId, user_id: userId } = await service().tenant();
  const credential = { kind: "access_token", id: "session" } as const;
  const caller: Caller = { orgId, userId, role: "owner", scope: "everything", credential };
  const verifier = {
    matchesFormat: () => true,
    verify: async (token: string) => {
      if (token === "broken") throw new Error("the verifier failed");
      return token === "valid" ? { caller, cacheableUntil: null } : null;
    },
  };
  const authentication = {
    authenticator: new Authenticator([verifier], new MemoryCounter()),
    membershipResolver: new MembershipResolver(queryBuilderOf(service().service.parts.orm.em.fork())),
  };
  const requestOf = (token: string, organization?: string) => ({
    headers: { authorization: `Bearer ${token}`, ...(organization && { "x-service-org-id": organization }) },
    ip: "192.0.2.1",
  });
  return { authentication, caller, requestOf };
}

test("X-Service-Org-Id selects an organization of the user, and any other is forbidden with the same message", async () => {
  const { authentication, caller, requestOf } = await createAuthentication();
  const foreign = (await service().tenant()).org_id;
  expect(await authenticateRequest(requestOf("valid"), authentication)).toEqual(caller);
  expect(await authenticateRequest(requestOf("valid", caller.orgId), authentication)).toEqual(caller);
  const errors = [];
  for (const organization of [foreign, randomUUID(), "x"])
    errors.push(await authenticateRequest(requestOf("valid", organization), authentication).catch((error) => error));
  expect(errors).toMatchObject([{ code: "forbidden" }, { code: "forbidden" }, { code: "forbidden" }]);
  expect(new Set(errors.map(({ message }: Error) => message)).size).toBe(1);
  expect(await authenticateRequest(requestOf("invalid", foreign), authentication)).toBeNull();
});

test("open credentials are invalid when the token or the membership ends, and an error of the check is not an answer", async () => {
  const { authentication, caller, requestOf } = await createAuthentication();
  const isValid = (...request: Parameters<typeof requestOf>) =>
    isStillAuthenticated(requestOf(...request), authentication);
  expect(await isValid("valid")).toBe(true);
  expect(await isValid("valid", caller.orgId)).toBe(true);
  expect(await isValid("invalid")).toBe(false);
  expect(await isValid("valid", randomUUID())).toBe(false);
  await expect(isValid("broken")).rejects.toThrow("the verifier failed");
  for (let at = 1; at < 60; at += 1) await isValid(`invalid-${at}`);
  await expect(isValid("one-more")).rejects.toMatchObject({ code: "rate_limited" });
});
