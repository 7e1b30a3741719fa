const PATH = "/.well-known/oauth-protected-resource";

/** Whether a path is that of the metadata of the tool gateway (RFC 9728), which also has a general one. */
export function isProtectedResourcePath(path: string): boolean {
  return path === PATH || path === `${PATH}/mcp`;
}

/**
 * Names the origin that the client uses in the metadata of the tool gateway. A client rejects metadata of another resource
 * than the one that it calls (RFC 9728, section 3.3).
 *
 * @param response - the metadata with the public origin
 * @param origin - one of the service's own origins
 */
export async function nameResourceOf(response: Response, origin: string): Promise<Response> {
  if (response.status !== 200 || response.body === null) return response;
  const metadata = (await response.json()) as object;
  return Response.json({ ...metadata, resource: `${origin}/mcp` }, { headers: response.headers });
}
