import { createHmac, hkdfSync } from "node:crypto";

/**
 * Returns an HMAC-SHA256 of a text, in hex, with a key that is derived from `TOKEN_SECRET` for one purpose only. Unlike a plain
 * hash, it cannot be compared with the hashes of guessed texts by someone who reads the database.
 */
export function keyedHashHex(tokenSecret: string, purpose: string, text: string): string {
  const key = Buffer.from(hkdfSync("sha256", tokenSecret, "", purpose, 32));
  return createHmac("sha256", key).update(text).digest("hex");
}
