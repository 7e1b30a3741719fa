import { createHash, timingSafeEqual } from "node:crypto";
import type { AuthEntries } from "../../../domain/ports/auth-entries.ts";

/**
 * Whether `token` is the current token of the app, or the previous one while it is still valid. Hashes are compared in
 * constant time, so the time reveals nothing about them.
 */
export async function verifyAppToken(
  entries: Pick<AuthEntries, "get">,
  appId: string,
  token: string,
): Promise<boolean> {
  const entry = await entries.get(appId);
  if (entry === null) return false;
  const actual = createHash("sha256").update(token).digest();
  const isCurrent = isHash(actual, entry.tokenSha256);
  const { previous } = entry;
  const isPrevious = previous !== undefined && isHash(actual, previous.tokenSha256);
  return isCurrent || (isPrevious && Date.now() < Date.parse(previous.until));
}

function isHash(actual: Buffer, hex: string): boolean {
  const expected = Buffer.from(hex, "hex");
  return expected.length === actual.length && timingSafeEqual(actual, expected);
}

/**
 * Reads an app token from an `Authorization` header. Returns `null` for any other value: the app may use the header for
 * its own purposes, so the edge proxy forwards it unchanged.
 */
export function readAppToken(authorization: string | undefined): string | null {
  return /^bearer +(sva_\S*) *$/i.exec(authorization ?? "")?.[1] ?? null;
}
