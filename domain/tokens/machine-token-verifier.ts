import { type Caller, highestRole, type Role, type TokenKind } from "../shared/caller.ts";
import type { Db } from "../database-types.ts";
import { sha256Hex } from "./mint-token.ts";
import { TokenCache } from "./token-cache.ts";

/** How often the last use of a token is written down. */
const LAST_USED_STEP_MS = 60_000;

/** What a machine may do in its organization. A personal access token may do what its owner may. */
const MACHINE_ROLES = {
  api_key: "admin",
  gateway_token: "member",
} as const satisfies Partial<Record<TokenKind, Role>>;

interface Verdict {
  caller: Caller;
  /** When the token itself runs out, in milliseconds since the epoch. */
  expiresAt: number;
}

/** Recognises machine tokens of one kind by their hash: one indexed select, and none while a verdict is fresh. */
export class TokenVerifier {
  readonly #db: Db;
  readonly #kind: TokenKind;
  readonly #tokenCache = new TokenCache<Verdict>();

  constructor(db: Db, kind: TokenKind) {
    this.#db = db;
    this.#kind = kind;
  }

  /**
   * The caller a token stands for, or `null` when it is unknown, revoked, expired, of another kind, or when its owner
   * is no member of its organization any more.
   */
  async verify(token: string): Promise<Caller | null> {
    const hash = sha256Hex(token);
    const verdict = await this.#tokenCache.get(hash, () => this.#ask(hash));
    return verdict === null || verdict.expiresAt <= Date.now() ? null : verdict.caller;
  }

  /** Drops what is remembered, so that a revocation is effective at once in this process. */
  forget(): void {
    this.#tokenCache.forget();
  }

  async #ask(hash: string): Promise<Verdict | null> {
    const row = await this.#db
      .selectFrom("machine_tokens as token")
      .leftJoin("auth.member as member", (join) =>
        join.onRef("member.userId", "=", "token.user_id").onRef("member.organizationId", "=", "token.org_id"),
      )
      .select(["token.id", "token.org_id", "token.user_id", "token.scope", "token.expires_at"])
      .select(["token.last_used_at", "token.revoked_at", "member.role"])
      .where("token_sha256", "=", hash)
      .where("kind", "=", this.#kind)
      .executeTakeFirst();
    if (row === undefined || row.revoked_at !== null) return null;
    const expiresAt = row.expires_at === null ? Infinity : new Date(row.expires_at).getTime();
    const role = this.#roleOf(row.role);
    if (expiresAt <= Date.now() || role === null) return null;
    await this.#noteUse(row.id, row.last_used_at);
    const credential = { kind: this.#kind, id: row.id };
    const { org_id: orgId, user_id: userId, scope } = row;
    return { caller: { orgId, userId, role, scope, credential }, expiresAt };
  }

  #roleOf(membership: string | null): Role | null {
    if (this.#kind !== "personal_access_token") return MACHINE_ROLES[this.#kind];
    return membership === null ? null : highestRole(membership);
  }

  async #noteUse(id: string, lastUsedAt: unknown): Promise<void> {
    const now = Date.now();
    if (lastUsedAt !== null && now - new Date(lastUsedAt as string).getTime() < LAST_USED_STEP_MS) return;
    await this.#db
      .updateTable("machine_tokens")
      .set({ last_used_at: new Date(now).toISOString() as never })
      .where("id", "=", id)
      .execute();
  }
}
