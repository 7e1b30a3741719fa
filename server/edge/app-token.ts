import { createHash, timingSafeEqual } from "node:crypto";
import type { AuthEntries } from "../../domain/ports/auth-entries.ts";

/** Whether `token` is the app's own. The hash is compared in constant time, so nothing of it can be learned by trying. */
export async function isTokenOf(entries: AuthEntries, appId: string, token: string): Promise<boolean> {
  const entry = await entries.get(appId);
  if (entry === null) return false;
  const actual = createHash("sha256").update(token).digest();
  const expected = Buffer.from(entry.tokenSha256, "hex");
  return expected.length === actual.length && timingSafeEqual(actual, expected);
}

/**
 * The app token in an `Authorization` header. `null` for any other value, which is the app's own business and passes
 * the edge untouched.
 */
export function appTokenIn(authorization: string | undefined): string | null {
  return /^bearer +(sva_\S*) *$/i.exec(authorization ?? "")?.[1] ?? null;
}
