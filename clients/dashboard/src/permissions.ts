import { highestScope, IDENTITY_SCOPES, includedScopes, SCOPE_DESCRIPTIONS } from "../../../domain/shared/scopes.ts";

/** What an OAuth client requests. */
export interface RequestedPermissions {
  /** What the client may find out about the user, and how long it stays connected. */
  identity: string[];
  /** What the client may do in an organization; empty when it may do nothing there. */
  service: string[];
}

/** Describes the permissions that an authorization request asks for. */
export function describePermissions(query: URLSearchParams): RequestedPermissions {
  const names = query.get("scope") ?? "";
  const scope = highestScope(names);
  const apis = query.getAll("resource").map((resource) => (resource.endsWith("/v1") ? "rest" : "tools"));
  const service = [...new Set(apis)].flatMap((api) =>
    scope === null ? [] : includedScopes(scope).flatMap((included) => SCOPE_DESCRIPTIONS[included][api]),
  );
  const identity = Object.entries(IDENTITY_SCOPES)
    .filter(([name]) => names.split(" ").includes(name))
    .map(([, text]) => text);
  return { identity, service };
}
