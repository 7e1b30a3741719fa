import { createHmac } from "node:crypto";
import { formatToken } from "../tokens/token-format.ts";

/**
 * The app's bearer token. It is derived, not stored: HMAC-SHA256 of the app's id and token version. So every response can
 * show it although the database holds no secret. Raising the version rotates the token.
 */
export function appToken(secret: string, app: { id: string; tokenVersion: number }): string {
  return formatToken("sva", createHmac("sha256", secret).update(`app-token:${app.id}:${app.tokenVersion}`).digest());
}
