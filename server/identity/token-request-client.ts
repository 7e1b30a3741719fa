import type { Call } from "./audit-from-call.ts";

/**
 * The OAuth client that a call to the token endpoint comes from, whichever way it says so. Believe it only after the
 * endpoint has.
 */
export function tokenRequestClient({ body, headers }: Pick<Call, "body" | "headers">): string | null {
  const { client_id: id, client_assertion: assertion } = (body ?? {}) as Record<string, unknown>;
  if (typeof id === "string") return id;
  if (typeof assertion === "string") return subjectOf(assertion);
  const [, basic] = /^basic +(\S+) *$/i.exec(headers?.get("authorization") ?? "") ?? [];
  return basic === undefined ? null : decodedName(Buffer.from(basic, "base64").toString());
}

function subjectOf(jwt: string): string | null {
  try {
    const claims = JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString()) as { sub?: unknown };
    return typeof claims.sub === "string" ? claims.sub : null;
  } catch {
    return null;
  }
}

/** Name and secret are encoded as in a form before they are joined (RFC 6749, section 2.3.1). */
function decodedName(pair: string): string | null {
  return new URLSearchParams(`name=${pair.split(":", 1)[0]}`).get("name");
}
