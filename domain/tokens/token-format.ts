import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** `svk` API key, `svp` personal access token, `svg` gateway token, `sva` app token. */
export type TokenPrefix = "svk" | "svp" | "svg" | "sva";

const FORM = new RegExp(`^(svk|svp|svg|sva)_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Writes a token: the prefix, 256 bits in 43 base62 characters, and 6 base62 characters of CRC32 over everything
 * before them, so a typo is refused without asking the database and scanners recognise a leaked token.
 */
export function formatToken(prefix: TokenPrefix, secret: Uint8Array): string {
  if (secret.length !== 32) throw new RangeError("a token carries exactly 32 bytes");
  const body = `${prefix}_${base62(BigInt(`0x${Buffer.from(secret).toString("hex")}`), SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** The prefix of a token that is written correctly, else `null`. Says nothing about whether the token is known. */
export function readTokenPrefix(token: string): TokenPrefix | null {
  const form = FORM.exec(token);
  if (form === null || checksum(token.slice(0, -CHECKSUM_LENGTH)) !== token.slice(-CHECKSUM_LENGTH)) return null;
  return form[1] as TokenPrefix;
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

/** How many digits are taken off at once: the most whose value a double holds exactly, because BigInts divide slowly. */
const GROUP_LENGTH = 8;
const GROUP_SIZE = 62n ** BigInt(GROUP_LENGTH);

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest /= GROUP_SIZE) digits = group(Number(rest % GROUP_SIZE)) + digits;
  return digits.slice(-length);
}

function group(value: number): string {
  let digits = "";
  for (let rest = value; digits.length < GROUP_LENGTH; rest = Math.floor(rest / 62))
    digits = ALPHABET.charAt(rest % 62) + digits;
  return digits;
}
