import type { Scope } from "./scopes.ts";

/** Who makes a call, and in which organization. It always comes from a verified credential. */
export interface Caller {
  orgId: string;
  /** The user whose credential it is, or who issued it; `null` when no user is known. */
  userId: string | null;
  /** The role of the user in the organization, or the fixed role of a machine token. */
  role: Role;
  /** What the credential permits; `null`: nothing. The role limits it further. */
  scope: Scope | null;
  credential: { kind: CredentialKind; id: string };
  /** Whether a user's credential is valid in this organization only; without it, in every organization of the user. */
  isLimitedToOrganization?: boolean;
}

/** The tokens that the service issues and stores as hashes. */
export const TOKEN_KINDS = ["api_key", "personal_access_token", "gateway_token"] as const;

export type TokenKind = (typeof TOKEN_KINDS)[number];

/** `access_token`: a JWT of a signed-in user. `operator`: a command of the operator, who has access to the database. */
export type CredentialKind = TokenKind | "access_token" | "operator";

/** In ascending order. */
export const ROLES = ["member", "admin", "owner"] as const;

export type Role = (typeof ROLES)[number];

export function reachesRole(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** The highest role of a member. The identity provider may store several roles, separated by commas. */
export function highestRole(roles: string): Role {
  const names = roles.split(",").map((role) => role.trim());
  return ROLES.findLast((role) => names.includes(role)) ?? "member";
}
