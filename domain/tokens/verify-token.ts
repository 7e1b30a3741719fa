import type { Caller, CredentialKind } from "../caller.ts";
import type { Db } from "../tables.ts";
import { sha256Hex } from "./mint-token.ts";

/** How long a verdict may be reused, in milliseconds: the bound on how long a revoked token can still be accepted. */
const VERDICT_LIFE_MS = 5000;
const VERDICTS_KEPT = 10_000;
/** How often the last use of a token is written down. */
const LAST_USED_STEP_MS = 60_000;

interface Verdict {
  caller: Caller | null;
  until: number;
  /** When the token itself runs out, in milliseconds since the epoch. */
  expiresAt: number;
}

/** Recognises machine tokens of one kind by their hash: one indexed select, and none while a verdict is fresh. */
export class TokenVerifier {
  readonly #db: Db;
  readonly #kind: CredentialKind;
  readonly #verdicts = new Map<string, Verdict>();

  constructor(db: Db, kind: CredentialKind) {
    this.#db = db;
    this.#kind = kind;
  }

  /** The caller a token stands for, or `null` when it is unknown, revoked, expired or of another kind. */
  async verify(token: string): Promise<Caller | null> {
    const hash = sha256Hex(token);
    const known = this.#verdicts.get(hash);
    const now = Date.now();
    if (known !== undefined && known.until > now) return known.expiresAt > now ? known.caller : null;
    const verdict = await this.#ask(hash, now);
    this.#remember(hash, verdict);
    return verdict.caller;
  }

  /** Drops what is remembered, so that a revocation is effective at once in this process. */
  forget(): void {
    this.#verdicts.clear();
  }

  async #ask(hash: string, now: number): Promise<Verdict> {
    const row = await this.#db
      .selectFrom("machine_tokens")
      .select(["id", "org_id", "user_id", "expires_at", "last_used_at", "revoked_at"])
      .where("token_sha256", "=", hash)
      .where("kind", "=", this.#kind)
      .executeTakeFirst();
    const until = now + VERDICT_LIFE_MS;
    const expiresAt = row?.expires_at == null ? Infinity : new Date(row.expires_at).getTime();
    if (row === undefined || row.revoked_at !== null || expiresAt <= now) return { caller: null, until, expiresAt };
    await this.#noteUse(row.id, row.last_used_at, now);
    const credential = { kind: this.#kind, id: row.id };
    return { caller: { orgId: row.org_id, userId: row.user_id ?? null, credential }, until, expiresAt };
  }

  async #noteUse(id: string, lastUsedAt: unknown, now: number): Promise<void> {
    if (lastUsedAt !== null && now - new Date(lastUsedAt as string).getTime() < LAST_USED_STEP_MS) return;
    await this.#db
      .updateTable("machine_tokens")
      .set({ last_used_at: new Date(now).toISOString() as never })
      .where("id", "=", id)
      .execute();
  }

  #remember(hash: string, verdict: Verdict): void {
    // Guesses must not push the verdicts of real callers out of the memory, or fill it.
    if (verdict.caller === null) return;
    if (this.#verdicts.size >= VERDICTS_KEPT) this.#verdicts.clear();
    this.#verdicts.set(hash, verdict);
  }
}
