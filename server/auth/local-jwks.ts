import { type CryptoKey, importJWK, type JWK } from "jose";
import { LRUCache } from "lru-cache";
import type { Db } from "../../domain/database-types.ts";

const KEY_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MAX_CACHED_KEYS = 100;
/** How long an unknown key id is not looked up again, in milliseconds, and how many such ids are cached. */
const UNKNOWN_KEY_TTL_MS = 1000;
const MAX_UNKNOWN_KEYS = 1000;
/** How long a key verifies after its expiry, in milliseconds: longer than the lifetime of any token that it signed. */
const EXPIRED_KEY_GRACE_MS = 2 * 86_400_000;

/** The public keys that verify the access tokens of this service. Each is read from the database once. */
export class LocalJwks {
  readonly #db: Db;
  readonly #keys = new LRUCache<string, { key: CryptoKey; validUntil: number }>({ max: MAX_CACHED_KEYS });
  readonly #unknownKeyIds = new LRUCache<string, true>({ max: MAX_UNKNOWN_KEYS, ttl: UNKNOWN_KEY_TTL_MS });

  constructor(db: Db) {
    this.#db = db;
  }

  async getKey(keyId: string): Promise<CryptoKey | null> {
    const cached = this.#keys.get(keyId);
    if (cached !== undefined && cached.validUntil > Date.now()) return cached.key;
    if (!KEY_ID.test(keyId) || this.#unknownKeyIds.get(keyId) !== undefined) return null;
    return this.#loadKey(keyId);
  }

  async #loadKey(keyId: string): Promise<CryptoKey | null> {
    const row = await this.#db
      .selectFrom("auth.jwks")
      .select(["publicKey", "expiresAt"])
      .where("id", "=", keyId)
      .executeTakeFirst();
    const validUntil = row?.expiresAt == null ? Infinity : new Date(row.expiresAt).getTime() + EXPIRED_KEY_GRACE_MS;
    if (row === undefined || validUntil <= Date.now()) {
      this.#unknownKeyIds.set(keyId, true);
      return null;
    }
    const key = (await importJWK(JSON.parse(row.publicKey) as JWK, "RS256")) as CryptoKey;
    this.#keys.set(keyId, { key, validUntil });
    return key;
  }
}
