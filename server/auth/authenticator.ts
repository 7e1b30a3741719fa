import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Caller } from "../../domain/shared/caller.ts";
import { RateLimited } from "../../domain/shared/errors.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import { clientNetwork } from "../http/client-address.ts";
import { readTokenPrefix, type TokenPrefix } from "../../domain/tokens/token-format.ts";

/** Verifies one type of bearer token. */
export interface BearerTokenVerifier {
  /** Whether a token has the format of this type. Reads no database and does not say whether the token is valid. */
  matchesFormat(token: string): boolean;
  /**
   * Returns the caller that the token identifies, or `null` when the token is not valid.
   *
   * @throws {ServiceError} `forbidden` when the token is valid and its owner is a member of no organization
   */
  verify(token: string): Promise<Caller | null>;
}

/** In characters. */
const MAX_TOKEN_LENGTH = 8192;
/** Well-formed but invalid tokens, counted per client network. */
const INVALID_TOKEN_LIMIT = { limit: 60, windowSeconds: 60 } as const;
const MAX_KNOWN_TOKENS = 10_000;

/** Identifies the caller of a request by the `Authorization` header, with the first verifier that matches the token's format. */
export class Authenticator {
  readonly #verifiers: readonly BearerTokenVerifier[];
  readonly #counter: Counter;
  /** Hashes of tokens that were valid before. They pass the limit, so guesses from a shared address do not lock out real callers. */
  readonly #knownTokens = new LRUCache<string, true>({ max: MAX_KNOWN_TOKENS });

  constructor(verifiers: readonly BearerTokenVerifier[], counter: Counter) {
    this.#verifiers = verifiers;
    this.#counter = counter;
  }

  /**
   * @param authorization - the value of the `Authorization` header
   * @param address - the client address
   * @returns `null` when the header is missing, malformed or of another scheme, or when its token is not valid here
   * @throws {RateLimited} when the client's network has sent too many invalid tokens
   */
  async authenticate(authorization: string | undefined, address: string): Promise<Caller | null> {
    const token = readBearerToken(authorization);
    if (token === null) return null;
    const verifier = this.#verifiers.find((candidate) => candidate.matchesFormat(token));
    if (verifier === undefined) return null;
    const hash = createHash("sha256").update(token).digest("base64");
    const quota = { key: `wrong-tokens:${clientNetwork(address)}`, ...INVALID_TOKEN_LIMIT };
    if (this.#knownTokens.get(hash) === undefined) {
      const { allowed, resetSeconds } = await this.#counter.peek(quota);
      if (!allowed) throw new RateLimited(TOO_MANY_INVALID_TOKENS, resetSeconds);
    }
    const caller = await verifier.verify(token);
    if (caller === null) await this.#counter.take(quota);
    else this.#knownTokens.set(hash, true);
    return caller;
  }
}

const TOO_MANY_INVALID_TOKENS =
  "Too many requests with an invalid token from this address. Check the token, then wait.";

/** Restricts `verifier` to tokens with one prefix. Prefix and checksum are checked before any database query. */
export function prefixedTokenVerifier(
  prefix: TokenPrefix,
  verifier: Pick<BearerTokenVerifier, "verify">,
): BearerTokenVerifier {
  return {
    matchesFormat: (token) => readTokenPrefix(token) === prefix,
    verify: (token) => verifier.verify(token),
  };
}

function readBearerToken(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.length > MAX_TOKEN_LENGTH) return null;
  return /^bearer ([\w.~+/-]+=*)$/i.exec(authorization)?.[1] ?? null;
}
