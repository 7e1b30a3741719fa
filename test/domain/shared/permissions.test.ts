import { expect, test } from "vitest";
import { highestRole, reachesRole, ROLES } from "../../../domain/shared/roles.ts";
import {
  DEFAULT_SCOPES,
  highestScope,
  includedScopes,
  reachesScope,
  SCOPE_DESCRIPTIONS,
  SCOPES,
} from "../../../domain/shared/scopes.ts";

test("a role reaches itself and the roles below it", () => {
  expect(ROLES).toEqual(["member", "admin", "owner"]);
  const reached = ROLES.map((role) => ROLES.filter((required) => reachesRole(role, required)));
  expect(reached).toEqual([["member"], ["member", "admin"], ["member", "admin", "owner"]]);
});

test("the highest of several roles counts, and an unknown role is a member", () => {
  for (const [roles, expected] of [
    ["owner", "owner"],
    ["member,admin", "admin"],
    ["owner, member", "owner"],
    [" admin ,x", "admin"],
    ["superowner", "member"],
    ["", "member"],
  ] as const)
    expect([roles, highestRole(roles)]).toEqual([roles, expected]);
});

test("a scope includes the scopes before it", () => {
  expect(SCOPES).toEqual(["read", "deploy", "everything"]);
  for (const [at, scope] of SCOPES.entries()) {
    expect(includedScopes(scope)).toEqual(SCOPES.slice(0, at + 1));
    expect(SCOPES.filter((required) => reachesScope(scope, required))).toEqual(SCOPES.slice(0, at + 1));
  }
  expect(SCOPES.filter((required) => reachesScope(null, required))).toEqual([]);
  expect(DEFAULT_SCOPES).toEqual({ query: "read", mutation: "everything" });
});

test("the highest scope of a list counts, and a list without a scope of the service has none", () => {
  for (const [names, expected] of [
    ["openid read", "read"],
    ["everything read", "everything"],
    ["deploy  read", "deploy"],
    ["openid profile", null],
    ["reader", null],
    ["", null],
  ] as const)
    expect([names, highestScope(names)]).toEqual([names, expected]);
});

test("every scope describes in words what it adds", () => {
  for (const descriptions of Object.values(SCOPE_DESCRIPTIONS))
    for (const texts of Object.values(descriptions))
      for (const text of [texts].flat()) expect(text.length).toBeGreaterThan(10);
});
