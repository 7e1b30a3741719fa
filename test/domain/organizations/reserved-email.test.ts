import { expect, test } from "vitest";
import { externalUserEmail, isReservedEmail } from "../../../domain/organizations/reserved-email.ts";

test("an external user has a reserved address of their own, which is short enough for an address", () => {
  const email = externalUserEmail("https://issuer.example.com", "42");
  expect(email).toMatch(/^[0-9a-f]{40}@oidc\.invalid$/);
  expect(isReservedEmail(email)).toBe(true);
  expect(externalUserEmail("https://issuer.example.com", "42")).toBe(email);
  expect(externalUserEmail("https://issuer.example.com", "43")).not.toBe(email);
  expect(externalUserEmail("https://other.example.com", "42")).not.toBe(email);
});
