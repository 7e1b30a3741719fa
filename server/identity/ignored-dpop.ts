import { type Fields, readFields } from "./auth-call.ts";

/**
 * better-auth can bind access tokens to a key of the client (DPoP, RFC 9449). No API of the service verifies a proof of
 * such a key, so a stolen token would be as valid as before. The service therefore behaves like an authorization server
 * without DPoP: it does not offer it, ignores the request for it, and issues bearer tokens.
 */
export const DPOP_HEADER = "dpop";

/** Removes DPoP from a metadata document. */
export async function withoutDpopMetadata(response: Response): Promise<Response> {
  if (response.status !== 200 || response.body === null) return response;
  const { dpop_signing_alg_values_supported: _omitted, ...metadata } = (await response.json()) as Fields;
  return Response.json(metadata, { headers: response.headers });
}

/**
 * Removes the key of a client from an authorization request. The request is changed in place, because better-auth adds
 * the fields that a hook returns to those of the request.
 */
export function removeDpopKey(request: unknown): void {
  delete readFields(request)["dpop_jkt"];
}
