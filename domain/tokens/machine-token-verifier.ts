import type { Caller, TokenKind } from "../shared/caller.ts";
import { highestRole, type Role } from "../shared/roles.ts";
import type { Db } from "../database-types.ts";
import { sha256Hex } from "../shared/sha256.ts";

/** The minimum time between two updates of `last_used_at`, in milliseconds. */
const LAST_USED_INTERVAL_MS = 60_000;

/** The role of tokens that belong to the organization. A personal access token has the role of its owner. */
const MACHINE_ROLES = {
  api_key: "admin",
  gateway_token: "member",
} as const satisfies Partial<Record<TokenKind, Role>>;

export interface VerifiedToken {
  caller: Caller;
  /** Milliseconds since the epoch; `Infinity` for a token without expiry. */
  expiresAt: number;
}

/** Verifies machine tokens of one kind by their hash, with one indexed query. */
export class MachineTokenVerifier {
  readonly #db: Db;
  readonly #kind: TokenKind;

  constructor(db: Db, kind: TokenKind) {
    this.#db = db;
    this.#kind = kind;
  }

  /**
   * Returns the caller that a token identifies, or `null` when the token is unknown, revoked, expired or of another kind,
   * or when its owner is no longer a member of its organization.
   */
  async verify(token: string): Promise<VerifiedToken | null> {
    const row = await this.#db
      .selectFrom("machine_tokens as token")
      .leftJoin("auth.member as member", (join) =>
        join.onRef("member.userId", "=", "token.user_id").onRef("member.organizationId", "=", "token.org_id"),
      )
      .select(["token.id", "token.org_id", "token.user_id", "token.scope", "token.expires_at", "token.agent_id"])
      .select(["token.last_used_at", "token.revoked_at", "member.role"])
      .where("token_sha256", "=", sha256Hex(token))
      .where("kind", "=", this.#kind)
      .executeTakeFirst();
    if (row === undefined || row.revoked_at !== null) return null;
    const expiresAt = row.expires_at === null ? Infinity : new Date(row.expires_at).getTime();
    const role = this.#resolveRole(row.role);
    if (expiresAt <= Date.now() || role === null) return null;
    await this.#updateLastUsed(row.id, row.last_used_at);
    const credential = { kind: this.#kind, id: row.id };
    const { org_id: orgId, user_id: userId, agent_id: agentId, scope } = row;
    const caller: Caller = { orgId, userId, role, scope, credential };
    return { caller: agentId === null ? caller : { ...caller, agentId }, expiresAt };
  }

  #resolveRole(memberRole: string | null): Role | null {
    if (this.#kind !== "personal_access_token") return MACHINE_ROLES[this.#kind];
    return memberRole === null ? null : highestRole(memberRole);
  }

  async #updateLastUsed(id: string, lastUsedAt: unknown): Promise<void> {
    const now = Date.now();
    if (lastUsedAt !== null && now - new Date(lastUsedAt as string).getTime() < LAST_USED_INTERVAL_MS) return;
    await this.#db
      .updateTable("machine_tokens")
      .set({ last_used_at: new Date(now).toISOString() as never })
      .where("id", "=", id)
      .execute();
  }
}
