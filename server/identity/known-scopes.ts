import { IDENTITY_SCOPES, SCOPES } from "../../domain/shared/scopes.ts";
import { readFields } from "./auth-call.ts";

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(IDENTITY_SCOPES), ...SCOPES]);

/**
 * Removes the scopes that the service does not have from a registration or an authorization request, as RFC 6749, section
 * 3.3, and RFC 7591, section 2, permit. Hosted clients send a scope of their own, such as `claudeai`. A request without
 * any known scope becomes one without a scope, which asks the user for the default. Changes the request itself, because
 * better-auth adds what a hook returns to the request.
 */
export function removeUnknownScopes(request: unknown): void {
  const fields = readFields(request);
  const { scope } = fields;
  if (typeof scope !== "string") return;
  const known = scope.split(/\s+/).filter((name) => KNOWN.has(name));
  if (known.length === 0) delete fields["scope"];
  else fields["scope"] = known.join(" ");
}
