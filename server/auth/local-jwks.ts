import { type CryptoKey, importJWK, type JWK } from "jose";
import type { Db } from "../../domain/database-types.ts";

const KEY_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** How long an unknown key id is taken for unknown without asking again, in milliseconds, and how many are kept. */
const UNKNOWN_MS = 1000;
const UNKNOWN_KEPT = 1000;
/** How long a retired key still verifies, in milliseconds: longer than any token it signed lives. */
const RETIRED_MS = 2 * 86_400_000;

/** The public keys with which the service's own access tokens are signed, read once each. */
export class LocalJwks {
  readonly #db: Db;
  readonly #keys = new Map<string, { key: CryptoKey; until: number }>();
  readonly #unknown = new Map<string, number>();

  constructor(db: Db) {
    this.#db = db;
  }

  async keyOf(keyId: string): Promise<CryptoKey | null> {
    const known = this.#keys.get(keyId);
    if (known !== undefined && known.until > Date.now()) return known.key;
    if (!KEY_ID.test(keyId) || (this.#unknown.get(keyId) ?? 0) > Date.now()) return null;
    return this.#read(keyId);
  }

  async #read(keyId: string): Promise<CryptoKey | null> {
    const row = await this.#db
      .selectFrom("auth.jwks")
      .select(["publicKey", "expiresAt"])
      .where("id", "=", keyId)
      .executeTakeFirst();
    const until = row?.expiresAt == null ? Infinity : new Date(row.expiresAt).getTime() + RETIRED_MS;
    if (row === undefined || until <= Date.now()) {
      if (this.#unknown.size >= UNKNOWN_KEPT) this.#unknown.clear();
      this.#unknown.set(keyId, Date.now() + UNKNOWN_MS);
      return null;
    }
    const key = (await importJWK(JSON.parse(row.publicKey) as JWK, "RS256")) as CryptoKey;
    this.#keys.set(keyId, { key, until });
    return key;
  }
}
