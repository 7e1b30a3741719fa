import { type CryptoKey, decodeJwt, errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from "jose";
import type { Caller } from "../../domain/shared/caller.ts";
import type { TokenKind } from "./authenticator.ts";

export interface AccessTokenOptions {
  /** Who signs the tokens. */
  issuer(): string;
  /** Whom they must be for; one of them suffices. */
  audiences(): string[];
  /** The public key of a key id, or `null` when the issuer has no such key. */
  keyOf(keyId: string): Promise<CryptoKey | null>;
  /** Who the claims of a genuine token stand for. */
  callerOf(claims: AccessClaims): Promise<Caller | null>;
}

export type AccessClaims = JWTPayload & { sub: string; iat: number; exp: number; type: string };

/** The longest life of a token that is believed, in seconds. */
const LONGEST_LIFE_SECONDS = 86_400;
/** How far two clocks may be apart, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Headers that bring or point to a key of the token's own choosing. */
const KEY_BEARING = ["jku", "jwk", "x5u", "x5c"];
const TYPES = ["jwt", "at+jwt"];

/** JWTs of one issuer, signed with RS256 by a key that the issuer publishes. */
export class AccessTokens implements TokenKind {
  readonly #options: AccessTokenOptions;

  constructor(options: AccessTokenOptions) {
    this.#options = options;
  }

  recognizes(token: string): boolean {
    return issuerOf(token) === this.#options.issuer();
  }

  async verify(token: string): Promise<Caller | null> {
    const claims = await this.#claimsOf(token);
    return claims === null ? null : this.#options.callerOf(claims);
  }

  async #claimsOf(token: string): Promise<AccessClaims | null> {
    const { issuer, audiences } = this.#options;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, (header) => this.#keyFor(header), {
        algorithms: ["RS256"],
        issuer: issuer(),
        audience: audiences(),
        requiredClaims: ["sub", "iat", "exp"],
        // It also refuses a token from the future.
        maxTokenAge: LONGEST_LIFE_SECONDS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      });
      const type = (protectedHeader.typ ?? "jwt").toLowerCase();
      if (!TYPES.includes(type) || payload.sub === "") return null;
      return { ...payload, type } as AccessClaims;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  async #keyFor(header: JWTHeaderParameters): Promise<CryptoKey> {
    if (header.kid === undefined || KEY_BEARING.some((name) => Object.hasOwn(header, name)))
      throw new errors.JWSInvalid("the header names a key of its own, or none");
    const key = await this.#options.keyOf(header.kid);
    if (key === null) throw new errors.JWKSNoMatchingKey();
    return key;
  }
}

function issuerOf(token: string): string | null {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null;
  try {
    return decodeJwt(token).iss ?? null;
  } catch {
    return null;
  }
}
