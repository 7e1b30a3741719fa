import { createHash } from "node:crypto";
import type { Caller } from "../../domain/shared/caller.ts";
import { RateLimited } from "../../domain/shared/errors.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import { networkOf } from "../http/network-of.ts";
import { readTokenPrefix, type TokenPrefix } from "../../domain/tokens/token-format.ts";

/** One kind of bearer token that a face accepts. */
export interface TokenKind {
  /** Whether a token looks like this kind. Costs nothing and says nothing about whether it is known. */
  recognizes(token: string): boolean;
  /**
   * The caller behind the token, or `null`.
   *
   * @throws {ServiceError} `forbidden` when the token is good and its owner belongs to no organization
   */
  verify(token: string): Promise<Caller | null>;
}

const LONGEST_TOKEN = 8192;
/** Well-formed tokens that turn out to be none, counted by the address they come from. */
const WRONG_TOKENS = { limit: 60, windowSeconds: 60 } as const;
const PROVEN_KEPT = 10_000;

/** Finds out who calls, from the `Authorization` header alone, by the first kind that recognizes the token. */
export class Authenticator {
  readonly #kinds: readonly TokenKind[];
  readonly #counter: Counter;
  /** Hashes of tokens that were good once: whoever guesses from the same address does not shut their owners out. */
  readonly #proven = new Set<string>();

  constructor(kinds: readonly TokenKind[], counter: Counter) {
    this.#kinds = kinds;
    this.#counter = counter;
  }

  /**
   * @param address - the network address of the client
   * @returns `null` for a header that is missing, garbled, of another scheme, or whose token is not valid here
   * @throws {RateLimited} when the address has sent too many wrong tokens
   */
  async callerOf(authorization: string | undefined, address: string): Promise<Caller | null> {
    const token = bearerToken(authorization);
    if (token === null) return null;
    const kind = this.#kinds.find((candidate) => candidate.recognizes(token));
    if (kind === undefined) return null;
    const hash = createHash("sha256").update(token).digest("base64");
    const quota = { key: `wrong-tokens:${networkOf(address)}`, ...WRONG_TOKENS };
    if (!this.#proven.has(hash)) {
      const { allowed, resetSeconds } = await this.#counter.peek(quota);
      if (!allowed) throw new RateLimited(TOO_MANY, resetSeconds);
    }
    const caller = await kind.verify(token);
    if (caller === null) await this.#counter.take(quota);
    else this.#prove(hash);
    return caller;
  }

  #prove(hash: string): void {
    if (this.#proven.has(hash)) return;
    if (this.#proven.size >= PROVEN_KEPT) this.#proven.clear();
    this.#proven.add(hash);
  }
}

const TOO_MANY = "Too many calls with a wrong token came from this address. Wait, and check the token.";

/** A machine token kind: its form is checked, checksum included, before anything is looked up. */
export function machineTokenKind(
  prefix: TokenPrefix,
  verifier: { verify(token: string): Promise<Caller | null> },
): TokenKind {
  return {
    recognizes: (token) => readTokenPrefix(token) === prefix,
    verify: (token) => verifier.verify(token),
  };
}

function bearerToken(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.length > LONGEST_TOKEN) return null;
  return /^bearer ([\w.~+/-]+=*)$/i.exec(authorization)?.[1] ?? null;
}
