import { createHash, timingSafeEqual } from "node:crypto";
import type { AuthEntries } from "../../../../domain/ports/auth-entries.ts";

/**
 * Whether `token` is the app's own, or the one before it while the two overlap. Hashes are compared in constant time, so
 * nothing of them can be learned by trying.
 */
export async function isTokenOf(entries: AuthEntries, appId: string, token: string): Promise<boolean> {
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
 * The app token in an `Authorization` header. `null` for any other value, which is the app's own business and passes
 * the edge untouched.
 */
export function appTokenIn(authorization: string | undefined): string | null {
  return /^bearer +(sva_\S*) *$/i.exec(authorization ?? "")?.[1] ?? null;
}
