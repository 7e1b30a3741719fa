import type { Caller, TokenKind } from "../shared/caller.ts";
import { reachesRole } from "../shared/roles.ts";
import { ServiceError } from "../shared/errors.ts";

/** The kinds of tokens that belong to the organization. A personal access token belongs to a user. */
export const SHARED_KINDS = ["api_key", "gateway_token"] as const satisfies TokenKind[];

/** Whether a caller may list, issue and revoke the tokens of the organization. */
export function managesSharedTokens({ role }: Caller): boolean {
  return reachesRole(role, "admin");
}

/** Whether the caller is the operator of the installation, who may manage every token. */
export function isOperator({ credential }: Caller): boolean {
  return credential.kind === "operator";
}

/** The user whose personal access tokens a caller may manage; `null` for a machine, which does not act for a user. */
export function ownUserId({ userId, credential }: Caller): string | null {
  return credential.kind === "access_token" || credential.kind === "personal_access_token" ? userId : null;
}

/** @throws {ServiceError} `forbidden` when the caller may not issue tokens of this kind */
export function checkMayIssue(caller: Caller, kind: TokenKind): void {
  if (isOperator(caller)) return;
  if (kind === "personal_access_token") {
    if (ownUserId(caller) === null) throw new ServiceError("forbidden", USERS_ONLY);
  } else if (!managesSharedTokens(caller)) throw new ServiceError("forbidden", ADMINS_ONLY);
}

const USERS_ONLY = "Only a user can issue a personal access token, for themselves. Sign in, then try again.";
const ADMINS_ONLY = "Role admin or owner required to issue API keys and gateway tokens.";
