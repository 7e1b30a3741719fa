/** Who asks, and for which organization. Made from a verified credential, never from anything else in a request. */
export interface Caller {
  orgId: string;
  /** The person behind the credential; `null` when the credential belongs to no person. */
  userId: string | null;
  /** What the person is in the organization; for a machine, what its token was issued with. */
  role: Role;
  /** What the credential may be used for, whatever its owner may do. */
  scope: Scope;
  credential: { kind: CredentialKind; id: string };
}

/** The machine tokens that call the service. */
export const TOKEN_KINDS = ["api_key", "personal_access_token", "gateway_token"] as const;

export type TokenKind = (typeof TOKEN_KINDS)[number];

/** `access_token`: a JWT that stands for a person who signed in. */
export type CredentialKind = TokenKind | "access_token";

/** From the least to the most. */
export const ROLES = ["member", "admin", "owner"] as const;

export type Role = (typeof ROLES)[number];

/** From the least to the most: `read` changes nothing, `deploy` also deploys, `everything` is all its owner may do. */
export const SCOPES = ["read", "deploy", "everything"] as const;

export type Scope = (typeof SCOPES)[number];

export function reachesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export function reachesScope(scope: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(scope) >= SCOPES.indexOf(needed);
}

/** The highest role that the identity provider names for a member; it may name several, divided by commas. */
export function highestRole(named: string): Role {
  const roles = named.split(",").map((role) => role.trim());
  return ROLES.findLast((role) => roles.includes(role)) ?? "member";
}
