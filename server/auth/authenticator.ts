import { hash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import type { Caller } from "../../domain/shared/caller.ts";
import { translateDatabaseOutage } from "../../domain/shared/database-outage.ts";
import { RateLimited, ServiceError } from "../../domain/shared/errors.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import { clientNetwork } from "../http/client-address.ts";
import type { MachineTokenVerifier } from "../../domain/tokens/machine-token-verifier.ts";
import { TokenCache } from "../../domain/tokens/token-cache.ts";
import { readTokenPrefix, type TokenPrefix } from "../../domain/tokens/token-format.ts";
import type { MembershipResolver } from "../../domain/users/membership-resolver.ts";

export interface VerifiedBearerToken {
  caller: Caller;
  /** When the token expires, in milliseconds since the epoch; `null` when the result must not be cached. */
  cacheableUntil: number | null;
}

/** Verifies one type of bearer token. */
export interface BearerTokenVerifier {
  /** Whether a token has the format of this type. Reads no database and does not say whether the token is valid. */
  matchesFormat(token: string): boolean;
  /**
   * Returns the caller that the token identifies, or `null` when the token is not valid.
   *
   * @throws {ServiceError} `forbidden` when the token is valid and its owner is a member of no organization
   */
  verify(token: string): Promise<VerifiedBearerToken | null>;
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
  /** By the token's hash. */
  readonly #cache = new TokenCache<VerifiedBearerToken>();

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
    const tokenHash = hash("sha256", token, "base64url");
    const verified = await this.#cache.get(
      tokenHash,
      () => this.#verify(token, tokenHash, address),
      ({ cacheableUntil }) => (cacheableUntil === null ? 0 : cacheableUntil - Date.now()),
    );
    return verified?.caller ?? null;
  }

  /** Invalidates the cache, so that a revocation takes effect in this process at once. */
  clear(): void {
    this.#cache.clear();
  }

  async #verify(token: string, tokenHash: string, address: string): Promise<VerifiedBearerToken | null> {
    const verifier = this.#verifiers.find((candidate) => candidate.matchesFormat(token));
    if (verifier === undefined) return null;
    const quota = { key: `wrong-tokens:${clientNetwork(address)}`, ...INVALID_TOKEN_LIMIT };
    if (this.#knownTokens.get(tokenHash) === undefined) {
      const { allowed, resetSeconds } = await this.#counter.peek(quota);
      if (!allowed) throw new RateLimited(TOO_MANY_INVALID_TOKENS, resetSeconds);
    }
    const verified = await verifier.verify(token);
    if (verified === null) await this.#counter.consume(quota);
    else this.#knownTokens.set(tokenHash, true);
    return verified;
  }
}

const TOO_MANY_INVALID_TOKENS =
  "Too many requests with an invalid token from this address. Check the token, then wait.";

/** Verifies machine tokens with one prefix. Prefix and checksum are checked before any database query. */
export function machineTokenVerifier(prefix: TokenPrefix, verifier: MachineTokenVerifier): BearerTokenVerifier {
  return {
    matchesFormat: (token) => readTokenPrefix(token) === prefix,
    async verify(token) {
      const verified = await verifier.verify(token);
      return verified && { caller: verified.caller, cacheableUntil: verified.expiresAt };
    },
  };
}

function readBearerToken(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.length > MAX_TOKEN_LENGTH) return null;
  return /^bearer ([\w.~+/-]+=*)$/i.exec(authorization)?.[1] ?? null;
}

export interface RequestAuthentication {
  authenticator: Authenticator;
  membershipResolver: MembershipResolver;
}

const NOT_A_MEMBER =
  "X-Service-Org-Id: you are not a member of this organization, or the token is limited to another one. Omit the header to use the token's organization.";

/**
 * Identifies the caller of a request by the headers `Authorization` and `X-Service-Org-Id`. For APIs that let a user
 * choose one of their organizations per request.
 *
 * @returns `null` when the token is missing or invalid
 * @throws {ServiceError} `forbidden` for an organization that the user is not a member of; an unknown one gets the same
 *   message, so that a caller cannot find out which organizations exist
 * @throws {ServiceError} `unavailable` while the database is unreachable
 * @throws {RateLimited} when the client's network has sent too many invalid tokens
 */
export async function authenticateRequest(
  { headers, ip }: Pick<FastifyRequest, "headers" | "ip">,
  { authenticator, membershipResolver }: RequestAuthentication,
): Promise<Caller | null> {
  try {
    const caller = await authenticator.authenticate(headers.authorization, ip);
    const orgId = headers["x-service-org-id"];
    if (caller === null || orgId === undefined) return caller;
    const switched = await membershipResolver.switchOrganization(caller, String(orgId));
    if (switched === null) throw new ServiceError("forbidden", NOT_A_MEMBER);
    return switched;
  } catch (error) {
    throw translateDatabaseOutage(error);
  }
}

/** Whether the credentials of a request are still valid, for a response that stays open. */
export async function isStillAuthenticated(
  request: Pick<FastifyRequest, "headers" | "ip">,
  authentication: RequestAuthentication,
): Promise<boolean> {
  try {
    return (await authenticateRequest(request, authentication)) !== null;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "forbidden") return false;
    throw error;
  }
}
