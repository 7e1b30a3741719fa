import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** `svk` API key, `svp` personal access token, `svg` gateway token, `sva` app token. */
export type TokenPrefix = "svk" | "svp" | "svg" | "sva";

const FORMAT = new RegExp(`^(svk|svp|svg|sva)_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Formats a token: the prefix, 256 bits as 43 base62 characters, and the CRC32 of both as 6 base62 characters. With the
 * checksum, a mistyped token is rejected without a database query, and secret scanners can recognize leaked tokens.
 */
export function formatToken(prefix: TokenPrefix, secret: Uint8Array): string {
  if (secret.length !== 32) throw new RangeError("the secret of a token must have 32 bytes");
  const body = `${prefix}_${base62(BigInt(`0x${Buffer.from(secret).toString("hex")}`), SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** Returns the prefix of a well-formed token, else `null`. A well-formed token may still be unknown or revoked. */
export function readTokenPrefix(token: string): TokenPrefix | null {
  const match = FORMAT.exec(token);
  if (match === null || checksum(token.slice(0, -CHECKSUM_LENGTH)) !== token.slice(-CHECKSUM_LENGTH)) return null;
  return match[1] as TokenPrefix;
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

/** Digits per BigInt division, which is slow. The value of 8 base62 digits is still exact as a double. */
const GROUP_LENGTH = 8;
const GROUP_SIZE = 62n ** BigInt(GROUP_LENGTH);

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest /= GROUP_SIZE)
    digits = base62Group(Number(rest % GROUP_SIZE)) + digits;
  return digits.slice(-length);
}

function base62Group(value: number): string {
  let digits = "";
  for (let rest = value; digits.length < GROUP_LENGTH; rest = Math.floor(rest / 62))
    digits = ALPHABET.charAt(rest % 62) + digits;
  return digits;
}
