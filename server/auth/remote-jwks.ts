import { createRemoteJWKSet, type CryptoKey, errors } from "jose";
import { z } from "zod";

const discoveryDocument = z.object({ issuer: z.string(), jwks_uri: z.url() });

const REQUEST_TIMEOUT_MS = 5000;
/** How long the fetched keys are used, and the minimum time between two fetches for unknown key ids. */
const KEYS_TTL_MS = 600_000;
const REFETCH_INTERVAL_MS = 1000;

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/**
 * The keys that an external identity provider publishes, located by OpenID Connect Discovery. A token with an unknown key
 * id makes the service fetch them again, so a rotated key works at its first use.
 */
export class RemoteJwks {
  readonly #issuer: string;
  #keySet: Promise<KeySet> | null = null;

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  /** @throws when the keys cannot be fetched. This is an internal error and does not mean that the token is invalid. */
  async getKey(keyId: string): Promise<CryptoKey | null> {
    const keySet = await (this.#keySet ??= this.#discover());
    try {
      return await keySet({ alg: "RS256", kid: keyId });
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return null;
      throw new Error("cannot fetch the keys of the identity provider", { cause: error });
    }
  }

  async #discover(): Promise<KeySet> {
    try {
      const url = `${this.#issuer.replace(/(?<!\/)\/+$/, "")}/.well-known/openid-configuration`;
      const response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS), redirect: "error" });
      const { issuer, jwks_uri: keysUrl } = discoveryDocument.parse(await response.json());
      if (issuer !== this.#issuer) throw new Error(`the discovery document names another issuer: ${issuer}`);
      return createRemoteJWKSet(new URL(keysUrl), {
        timeoutDuration: REQUEST_TIMEOUT_MS,
        cooldownDuration: REFETCH_INTERVAL_MS,
        cacheMaxAge: KEYS_TTL_MS,
      });
    } catch (cause) {
      this.#keySet = null;
      throw new Error("OIDC_ISSUER: OpenID Connect Discovery failed", { cause });
    }
  }
}
