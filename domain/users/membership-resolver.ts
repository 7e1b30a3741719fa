import { type Caller, highestRole, type Role, type Scope } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { Db } from "../database-types.ts";
import { TokenCache } from "../tokens/token-cache.ts";

/** A person as a verified access token describes them. */
export interface SignedIn {
  userId: string;
  /** The session that must still be there; `null` for a token that outlives the session it was made in. */
  sessionId: string | null;
  /** When the token was made, in seconds since the epoch: one from before a change of password is void. */
  issuedAt: number;
  scope: Scope;
}

interface Standing {
  memberships: { orgId: string; role: Role }[];
  activeOrgId: string | null;
  /** Milliseconds since the epoch. */
  passwordSetAt: number;
  /** Whether it is another than the first. */
  passwordChanged: boolean;
}

/** What people are now, whatever their tokens say: members of which organizations, as what, and still signed in or not. */
export class MembershipResolver {
  readonly #db: Db;
  readonly #tokenCache = new TokenCache<Standing>();

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * The caller that a person is, in the organization of their session or else their first.
   *
   * @returns `null` when the person or the session is gone, or the password was changed since
   * @throws {ServiceError} `forbidden` when the person belongs to no organization
   */
  async callerOf({ userId, sessionId, issuedAt, scope }: SignedIn): Promise<Caller | null> {
    const standing = await this.#of(userId, sessionId);
    if (standing === null || isOutdated(standing, sessionId, issuedAt)) return null;
    const { memberships, activeOrgId } = standing;
    const membership = memberships.find(({ orgId }) => orgId === activeOrgId) ?? memberships[0];
    if (membership === undefined) throw new ServiceError("forbidden", NO_ORGANIZATION);
    return { ...membership, userId, scope, credential: { kind: "access_token", id: sessionId ?? userId } };
  }

  /** The same person in another of their organizations; `null` when they are no member of it, or are no person. */
  async inOrganization(caller: Caller, orgId: string): Promise<Caller | null> {
    if (caller.orgId === orgId) return caller;
    const { kind } = caller.credential;
    if (caller.userId === null || (kind !== "personal_access_token" && kind !== "access_token")) return null;
    const standing = await this.#of(caller.userId, null);
    const membership = standing?.memberships.find((each) => each.orgId === orgId);
    return membership === undefined ? null : { ...caller, ...membership };
  }

  /** Drops what is remembered, so that a change is effective at once in this process. */
  forget(): void {
    this.#tokenCache.forget();
  }

  #of(userId: string, sessionId: string | null): Promise<Standing | null> {
    return this.#tokenCache.get(`${userId} ${sessionId ?? ""}`, () => this.#ask(userId, sessionId));
  }

  async #ask(userId: string, sessionId: string | null): Promise<Standing | null> {
    const rows = await this.#db
      .selectFrom("auth.user as person")
      .leftJoin("auth.member as member", "member.userId", "person.id")
      .leftJoin("auth.account as account", (join) =>
        join.onRef("account.userId", "=", "person.id").on("account.providerId", "=", "credential"),
      )
      .leftJoin("auth.session as session", (join) =>
        join.onRef("session.userId", "=", "person.id").on("session.id", "=", sessionId),
      )
      .select(["member.organizationId", "member.role", "account.updatedAt as passwordSetAt"])
      .select("account.createdAt as firstPasswordSetAt")
      .select(["session.expiresAt", "session.activeOrganizationId"])
      .where("person.id", "=", userId)
      .orderBy("member.createdAt")
      .orderBy("member.id")
      .execute();
    const [first] = rows;
    if (first === undefined) return null;
    if (sessionId !== null && (first.expiresAt === null || new Date(first.expiresAt).getTime() <= Date.now()))
      return null;
    return {
      memberships: rows.flatMap(({ organizationId, role }) =>
        organizationId === null || role === null ? [] : [{ orgId: organizationId, role: highestRole(role) }],
      ),
      activeOrgId: first.activeOrganizationId,
      passwordSetAt: msOf(first.passwordSetAt),
      passwordChanged: msOf(first.passwordSetAt) - msOf(first.firstPasswordSetAt) > SAME_MOMENT_MS,
    };
  }
}

/**
 * A token says to the second when it was made. One from the second in which the password was changed may be from before,
 * unless it needs a session, which the change would have ended.
 */
function isOutdated({ passwordSetAt, passwordChanged }: Standing, sessionId: string | null, issuedAt: number): boolean {
  const second = Math.floor(passwordSetAt / 1000);
  return issuedAt < second || (issuedAt === second && passwordChanged && sessionId === null);
}

/** better-auth reads the clock twice for the two times of a new account. */
const SAME_MOMENT_MS = 10;

function msOf(timestamp: string | null): number {
  return timestamp === null ? 0 : new Date(timestamp).getTime();
}

const NO_ORGANIZATION = "You belong to no organization yet. Create one, or accept an invitation to one.";
