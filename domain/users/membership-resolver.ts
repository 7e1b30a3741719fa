import type { Caller } from "../shared/caller.ts";
import { highestRole, type Role } from "../shared/roles.ts";
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
  /**
   * The organization that was active when the token was issued; `null` if none was. The token acts there, unless a request
   * names another one.
   */
  issuedOrgId: string | null;
  /** The OAuth client that must still be connected; `null` for a token of the dashboard. */
  clientId: string | null;
}

type StateKey = Pick<AccessTokenUser, "userId" | "sessionId" | "clientId">;

interface UserState {
  memberships: { orgId: string; role: Role }[];
  /** Seconds since the epoch; 0 without an OAuth client. A token that was issued before is of an earlier connection. */
  connectedAt: number;
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
   * Returns the user as a caller in the organization of the token, else in their first organization. Selecting another
   * organization in the dashboard does not change the organization of a token.
   *
   * @returns `null` when the user or the session does not exist any more, when the password was changed after the token was
   *   issued, when the OAuth client is not connected any more, and when the user is no longer a member of the only
   *   organization in which the token is valid
   * @throws {ServiceError} `forbidden` when the user is a member of no organization, or no longer of that of the session
   */
  async resolveCaller(user: AccessTokenUser): Promise<Caller | null> {
    const { userId, sessionId, orgId, issuedAt, scope, issuedOrgId } = user;
    const state = await this.#getState(user);
    if (state === null || predatesPassword(state, sessionId, issuedAt) || issuedAt < state.connectedAt) return null;
    const { memberships } = state;
    const [first] = memberships;
    const isLimitedToOrganization = orgId !== null;
    const id = orgId ?? issuedOrgId;
    const membership = id === null ? first : memberships.find((candidate) => candidate.orgId === id);
    if (membership === undefined && isLimitedToOrganization) return null;
    if (membership === undefined)
      throw new ServiceError("forbidden", first === undefined ? NO_ORGANIZATION : NO_LONGER_A_MEMBER);
    const credential = { kind: "access_token", id: sessionId ?? userId } as const;
    return { ...membership, userId, scope, credential, isLimitedToOrganization };
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
    const state = await this.#getState({ userId: caller.userId, sessionId: null, clientId: null });
    const membership = state?.memberships.find((candidate) => candidate.orgId === orgId);
    return membership === undefined ? null : { ...caller, ...membership };
  }

  /** Invalidates the cache, so that a change takes effect in this process at once. */
  clear(): void {
    this.#cache.clear();
  }

  #getState({ userId, sessionId, clientId }: StateKey): Promise<UserState | null> {
    const key = `${userId} ${sessionId ?? ""} ${clientId ?? ""}`;
    return this.#cache.get(key, () => this.#loadState({ userId, sessionId, clientId }));
  }

  async #loadState({ userId, sessionId, clientId }: StateKey): Promise<UserState | null> {
    const rows = await this.#db
      .selectFrom("auth.user as user")
      .leftJoin("auth.member as member", "member.userId", "user.id")
      .leftJoin("auth.account as account", (join) =>
        join.onRef("account.userId", "=", "user.id").on("account.providerId", "=", "credential"),
      )
      .leftJoin("auth.session as session", (join) =>
        join.onRef("session.userId", "=", "user.id").on("session.id", "=", sessionId),
      )
      .leftJoin("auth.oauthConnection as connection", (join) =>
        join.onRef("connection.userId", "=", "user.id").on("connection.clientId", "=", clientId),
      )
      .select(["member.organizationId", "member.role", "account.updatedAt as passwordSetAt"])
      .select("account.createdAt as firstPasswordSetAt")
      .select(["session.expiresAt", "connection.connectedAt"])
      .where("user.id", "=", userId)
      .orderBy("member.createdAt")
      .orderBy("member.id")
      .execute();
    const [first] = rows;
    if (first === undefined) return null;
    if (sessionId !== null && (first.expiresAt === null || new Date(first.expiresAt).getTime() <= Date.now()))
      return null;
    if (clientId !== null && first.connectedAt === null) return null;
    const passwordSetAt = toMilliseconds(first.passwordSetAt);
    return {
      memberships: rows.flatMap(({ organizationId, role }) =>
        organizationId === null || role === null ? [] : [{ orgId: organizationId, role: highestRole(role) }],
      ),
      connectedAt: Math.floor(toMilliseconds(first.connectedAt) / 1000),
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

const NO_LONGER_A_MEMBER =
  "You are no longer a member of the organization of this token. Sign in again to get another one.";
const NO_ORGANIZATION = "You are not a member of any organization. Create one, or accept an invitation to one.";
