import { type CryptoKey, decodeJwt, errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from "jose";
import type { Caller } from "../../domain/shared/caller.ts";
import type { BearerTokenVerifier, VerifiedBearerToken } from "./authenticator.ts";

export interface AccessTokenVerifierOptions {
  /** The expected `iss`. */
  issuer(): string;
  /** The accepted values of `aud`; a token must name one of them. */
  audiences(): string[];
  /** Returns the public key with a key id, or `null` when the issuer has no such key. */
  getKey(keyId: string): Promise<CryptoKey | null>;
  /** Returns the caller that verified claims identify. */
  resolveCaller(claims: AccessTokenClaims): Promise<Caller | null>;
}

/** `type` is the `typ` of the header in lower case. */
export type AccessTokenClaims = JWTPayload & { sub: string; iat: number; exp: number; type: string };

/** The maximum age of an accepted token, in seconds, whatever its `exp` says. */
const MAX_AGE_SECONDS = 86_400;
/** The tolerated difference between two clocks, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Header parameters that contain or locate a key. A token must not choose the key that verifies it. */
const KEY_PARAMETERS = ["jku", "jwk", "x5u", "x5c"];
const TOKEN_TYPES = ["jwt", "at+jwt"];

/** Verifies the JWTs of one issuer, signed with RS256 by a key that the issuer publishes. No result is cached. */
export class AccessTokenVerifier implements BearerTokenVerifier {
  readonly #options: AccessTokenVerifierOptions;

  constructor(options: AccessTokenVerifierOptions) {
    this.#options = options;
  }

  matchesFormat(token: string): boolean {
    return readIssuer(token) === this.#options.issuer();
  }

  async verify(token: string): Promise<VerifiedBearerToken | null> {
    const claims = await this.#verifyClaims(token);
    const caller = claims === null ? null : await this.#options.resolveCaller(claims);
    return caller === null ? null : { caller, cacheableUntil: null };
  }

  async #verifyClaims(token: string): Promise<AccessTokenClaims | null> {
    const { issuer, audiences } = this.#options;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, (header) => this.#selectKey(header), {
        algorithms: ["RS256"],
        issuer: issuer(),
        audience: audiences(),
        requiredClaims: ["sub", "iat", "exp"],
        // With a maximum age, jose also rejects a token with an `iat` in the future.
        maxTokenAge: MAX_AGE_SECONDS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      });
      const type = (protectedHeader.typ ?? "jwt").toLowerCase();
      if (!TOKEN_TYPES.includes(type) || payload.sub === "") return null;
      return { ...payload, type } as AccessTokenClaims;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  async #selectKey(header: JWTHeaderParameters): Promise<CryptoKey> {
    if (header.kid === undefined || KEY_PARAMETERS.some((name) => Object.hasOwn(header, name)))
      throw new errors.JWSInvalid("the header must have a key id and must not contain or locate a key");
    const key = await this.#options.getKey(header.kid);
    if (key === null) throw new errors.JWKSNoMatchingKey();
    return key;
  }
}

/** The `iss` of a JWT whose signature is not verified yet; `null` when the text is not a JWT. */
function readIssuer(token: string): string | null {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null;
  try {
    return decodeJwt(token).iss ?? null;
  } catch {
    return null;
  }
}
