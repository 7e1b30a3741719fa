import { type Caller, reachesRole, type TokenKind } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";

/** The kinds that stand for the organization, and not for the person who made them. */
export const SHARED_KINDS = ["api_key", "gateway_token"] as const satisfies TokenKind[];

/** Whether a caller may see and end the tokens of the organization. */
export function managesShared({ role }: Caller): boolean {
  return reachesRole(role, "admin");
}

/** The person whose own tokens a caller may manage; `null` for a machine, which has none. */
export function ownPerson({ userId, credential }: Caller): string | null {
  return credential.kind === "access_token" || credential.kind === "personal_access_token" ? userId : null;
}

/** @throws {ServiceError} `forbidden` when the caller may have no token of this kind made */
export function checkMayIssue(caller: Caller, kind: TokenKind): void {
  if (kind === "personal_access_token") {
    if (ownPerson(caller) === null) throw new ServiceError("forbidden", ONLY_PEOPLE);
  } else if (!managesShared(caller)) throw new ServiceError("forbidden", ONLY_ADMINS);
}

const ONLY_PEOPLE = "A personal access token is made by the person it stands for. Sign in, then make it.";
const ONLY_ADMINS = "Tokens of the organization are made by its owners and admins. Ask one of them.";
