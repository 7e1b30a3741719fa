import { createRemoteJWKSet, type CryptoKey, errors } from "jose";
import { z } from "zod";

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });

/** How long the provider may take to answer, in milliseconds. */
const PATIENCE_MS = 5000;
/** How long its keys are used without asking again, and how soon they may be asked for again for an unknown key id. */
const KEYS_LIFE_MS = 600_000;
const KEYS_COOLDOWN_MS = 1000;

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/**
 * The keys that an external identity provider publishes, found by OpenID Connect discovery. They are asked for again
 * when a token names one that is not among them, so a rotated key is known at its first use.
 */
export class RemoteJwks {
  readonly #issuer: string;
  #keySet: Promise<KeySet> | null = null;

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  /** @throws when the provider cannot be asked, which says nothing about the token */
  async keyOf(keyId: string): Promise<CryptoKey | null> {
    const keySet = await (this.#keySet ??= this.#discover());
    try {
      return await keySet({ alg: "RS256", kid: keyId });
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return null;
      throw new Error("the keys of the identity provider cannot be read", { cause: error });
    }
  }

  async #discover(): Promise<KeySet> {
    try {
      const url = `${this.#issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
      const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: "error" });
      const { issuer, jwks_uri: keys } = discovery.parse(await response.json());
      if (issuer !== this.#issuer) throw new Error(`the provider calls itself ${issuer}`);
      const options = { timeoutDuration: PATIENCE_MS, cooldownDuration: KEYS_COOLDOWN_MS, cacheMaxAge: KEYS_LIFE_MS };
      return createRemoteJWKSet(new URL(keys), options);
    } catch (cause) {
      this.#keySet = null;
      throw new Error("OIDC_ISSUER cannot be discovered", { cause });
    }
  }
}
