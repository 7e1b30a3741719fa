import type { InsufficientScope } from "../../domain/shared/errors.ts";

/** The parameters of a `WWW-Authenticate` challenge (RFC 6750, section 3, and RFC 9728, section 5.1). */
interface ChallengeParameters {
  resource_metadata?: string;
  scope?: string;
  error?: "invalid_token" | "insufficient_scope";
}

/** Formats the value of a `WWW-Authenticate` header. */
export function formatChallenge(parameters: ChallengeParameters): string {
  const formatted = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  return `Bearer ${formatted.join(", ")}`.trimEnd();
}

/** The error of a 401 response: `invalid_token` when the request has a bearer token, none otherwise. */
export function challengeError(authorization: string | undefined): Pick<ChallengeParameters, "error"> {
  return /^bearer\b/i.test(authorization ?? "") ? { error: "invalid_token" } : {};
}

/** The challenge that tells an OAuth client which scope to request. */
export function scopeChallenge({ required }: InsufficientScope): ChallengeParameters & { scope: string } {
  return { error: "insufficient_scope", scope: required };
}
