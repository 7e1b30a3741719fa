import { type Caller, highestRole, type Role } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { Scope } from "../shared/scopes.ts";
import type { Db } from "../database-types.ts";
import { TokenCache } from "../tokens/token-cache.ts";

/** A user as a verified access token identifies them. */
export interface AccessTokenUser {
  userId: string;
  /** The session that must still exist; `null` for a token that is independent of a session. */
  sessionId: string | null;
  /** The only organization in which the token is valid; `null` for a token that is valid in all of the user's. */
  orgId: string | null;
  /** Seconds since the epoch. A token that was issued before the password was changed is invalid. */
  issuedAt: number;
  /** `null` for a token without a scope of the service. */
  scope: Scope | null;
}

interface UserState {
  memberships: { orgId: string; role: Role }[];
  activeOrgId: string | null;
  /** Milliseconds since the epoch; 0 without a password. */
  passwordSetAt: number;
  /** `false` while the user has the password they signed up with. */
  passwordChanged: boolean;
}

/** Resolves a user's current memberships, roles and session state. Access tokens only identify the user. */
export class MembershipResolver {
  readonly #db: Db;
  readonly #cache = new TokenCache<UserState>();

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Returns the user as a caller in the organization of the token, else in the active organization of their session, else in
   * their first organization.
   *
   * @returns `null` when the user or the session does not exist any more, when the password was changed after the token was
   *   issued, and when the user is no longer a member of the token's organization
   * @throws {ServiceError} `forbidden` when the user is a member of no organization
   */
  async resolveCaller({ userId, sessionId, orgId, issuedAt, scope }: AccessTokenUser): Promise<Caller | null> {
    const state = await this.#getState(userId, sessionId);
    if (state === null || predatesPassword(state, sessionId, issuedAt)) return null;
    const { memberships, activeOrgId } = state;
    const find = (id: string | null) => memberships.find((membership) => membership.orgId === id);
    const membership = orgId === null ? (find(activeOrgId) ?? memberships[0]) : find(orgId);
    if (membership === undefined && orgId !== null) return null;
    if (membership === undefined) throw new ServiceError("forbidden", NO_ORGANIZATION);
    const credential = { kind: "access_token", id: sessionId ?? userId } as const;
    return { ...membership, userId, scope, credential, isLimitedToOrganization: orgId !== null };
  }

  /**
   * Returns the caller in another of their organizations; `null` when they are not a member of it, not a user, or when their
   * credential is limited to one organization.
   */
  async switchOrganization(caller: Caller, orgId: string): Promise<Caller | null> {
    if (caller.orgId === orgId) return caller;
    if (caller.isLimitedToOrganization === true) return null;
    const { kind } = caller.credential;
    if (caller.userId === null || (kind !== "personal_access_token" && kind !== "access_token")) return null;
    const state = await this.#getState(caller.userId, null);
    const membership = state?.memberships.find((candidate) => candidate.orgId === orgId);
    return membership === undefined ? null : { ...caller, ...membership };
  }

  /** Invalidates the cache, so that a change takes effect in this process at once. */
  clear(): void {
    this.#cache.clear();
  }

  #getState(userId: string, sessionId: string | null): Promise<UserState | null> {
    return this.#cache.get(`${userId} ${sessionId ?? ""}`, () => this.#loadState(userId, sessionId));
  }

  async #loadState(userId: string, sessionId: string | null): Promise<UserState | null> {
    const rows = await this.#db
      .selectFrom("auth.user as user")
      .leftJoin("auth.member as member", "member.userId", "user.id")
      .leftJoin("auth.account as account", (join) =>
        join.onRef("account.userId", "=", "user.id").on("account.providerId", "=", "credential"),
      )
      .leftJoin("auth.session as session", (join) =>
        join.onRef("session.userId", "=", "user.id").on("session.id", "=", sessionId),
      )
      .select(["member.organizationId", "member.role", "account.updatedAt as passwordSetAt"])
      .select("account.createdAt as firstPasswordSetAt")
      .select(["session.expiresAt", "session.activeOrganizationId"])
      .where("user.id", "=", userId)
      .orderBy("member.createdAt")
      .orderBy("member.id")
      .execute();
    const [first] = rows;
    if (first === undefined) return null;
    if (sessionId !== null && (first.expiresAt === null || new Date(first.expiresAt).getTime() <= Date.now()))
      return null;
    const passwordSetAt = toMilliseconds(first.passwordSetAt);
    return {
      memberships: rows.flatMap(({ organizationId, role }) =>
        organizationId === null || role === null ? [] : [{ orgId: organizationId, role: highestRole(role) }],
      ),
      activeOrgId: first.activeOrganizationId,
      passwordSetAt,
      passwordChanged: passwordSetAt - toMilliseconds(first.firstPasswordSetAt) > SAME_MOMENT_MS,
    };
  }
}

/**
 * Whether a token was issued before the current password was set. `issuedAt` has a resolution of one second, so a token
 * from the second of a password change counts as older. The exception is a token with a session: the change ended every
 * older session.
 */
function predatesPassword(
  { passwordSetAt, passwordChanged }: UserState,
  sessionId: string | null,
  issuedAt: number,
): boolean {
  const passwordSecond = Math.floor(passwordSetAt / 1000);
  return issuedAt < passwordSecond || (issuedAt === passwordSecond && passwordChanged && sessionId === null);
}

/** better-auth reads the clock twice for `createdAt` and `updatedAt` of a new account. */
const SAME_MOMENT_MS = 10;

function toMilliseconds(timestamp: string | null): number {
  return timestamp === null ? 0 : new Date(timestamp).getTime();
}

const NO_ORGANIZATION = "You are not a member of any organization. Create one, or accept an invitation to one.";
