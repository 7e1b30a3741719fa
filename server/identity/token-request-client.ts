import { type AuthCall, readFields } from "./auth-call.ts";

/**
 * The id of the OAuth client that sent a token request, from any of the three places where it may be. It is trustworthy
 * only after the token endpoint has accepted the request.
 */
export function readTokenRequestClient({ body, headers }: Pick<AuthCall, "body" | "headers">): string | null {
  const { client_id: id, client_assertion: assertion } = readFields(body);
  if (typeof id === "string") return id;
  if (typeof assertion === "string") return readSubject(assertion);
  const [, basic] = /^basic +(\S+) *$/i.exec(headers?.get("authorization") ?? "") ?? [];
  return basic === undefined ? null : decodeUserName(Buffer.from(basic, "base64").toString());
}

function readSubject(jwt: string): string | null {
  try {
    const claims = JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString()) as { sub?: unknown };
    return typeof claims.sub === "string" ? claims.sub : null;
  } catch {
    return null;
  }
}

/** Client id and secret are form-encoded before they are joined with a colon (RFC 6749, section 2.3.1). */
function decodeUserName(credentials: string): string | null {
  return new URLSearchParams(`name=${credentials.split(":", 1)[0]}`).get("name");
}
