import type { Caller } from "../../domain/caller.ts";
import { readTokenPrefix, type TokenPrefix } from "../../domain/tokens/token-format.ts";

/** One kind of bearer token that a face accepts. */
export interface TokenKind {
  /** Whether a token looks like this kind. Costs nothing and says nothing about whether it is known. */
  recognizes(token: string): boolean;
  /** The caller behind the token, or `null`. */
  verify(token: string): Promise<Caller | null>;
}

const LONGEST_TOKEN = 8192;

/** Finds out who calls, from the `Authorization` header alone, by the first kind that recognizes the token. */
export class Authenticator {
  readonly #kinds: readonly TokenKind[];

  constructor(kinds: readonly TokenKind[]) {
    this.#kinds = kinds;
  }

  /** @returns `null` for a header that is missing, garbled, of another scheme, or whose token is not valid here */
  async callerOf(authorization: string | undefined): Promise<Caller | null> {
    const token = bearerToken(authorization);
    if (token === null) return null;
    const kind = this.#kinds.find((candidate) => candidate.recognizes(token));
    return kind === undefined ? null : kind.verify(token);
  }
}

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
