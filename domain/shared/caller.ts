import type { Role } from "./roles.ts";
import type { Scope } from "./scopes.ts";

/** Who makes a call, and in which organization. It always comes from a verified credential. */
export interface Caller {
  orgId: string;
  /** The user whose credential it is, or who issued it; `null` when no user is known. */
  userId: string | null;
  /** The role of the user in the organization, or the fixed role of a machine token. */
  role: Role;
  /** The agent of a gateway token; `undefined` for every other credential. */
  agentId?: string;
  /** What the credential permits; `null`: nothing. The role limits it further. */
  scope: Scope | null;
  credential: { kind: CredentialKind; id: string };
  /** Whether a user's credential is valid in this organization only; without it, in every organization of the user. */
  isLimitedToOrganization?: boolean;
}

/** The tokens that the service issues and stores as hashes. */
export const TOKEN_KINDS = ["api_key", "personal_access_token", "gateway_token"] as const;

export type TokenKind = (typeof TOKEN_KINDS)[number];

export function isTokenKind(kind: string | undefined): kind is TokenKind {
  return TOKEN_KINDS.some((candidate) => candidate === kind);
}

/** `access_token`: a JWT of a signed-in user. `operator`: a command of the operator, who has access to the database. */
export type CredentialKind = TokenKind | "access_token" | "operator";
