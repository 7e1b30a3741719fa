const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** Whether two host names both name this machine. A port is not part of a host name. */
export function areLoopbackHosts(one: string, other: string): boolean {
  return LOOPBACK_HOSTS.includes(one) && LOOPBACK_HOSTS.includes(other);
}

/**
 * The origins at which clients reach the service, the public one first. On a loopback address each name of the machine is
 * one, because a client may use another name than the operator.
 */
export function listOwnOrigins(publicUrl: string): string[] {
  const { protocol, hostname, port, origin } = new URL(publicUrl);
  if (!LOOPBACK_HOSTS.includes(hostname)) return [origin];
  const aliases = LOOPBACK_HOSTS.map((host) => new URL(`${protocol}//${host}${port && `:${port}`}`).origin);
  return [origin, ...aliases.filter((alias) => alias !== origin)];
}

/**
 * The own origin that a request was sent to. For any other host it is the public one, so that no response contains a host
 * that the request made up.
 *
 * @param host - the `Host` header
 */
export function selectOwnOrigin(publicUrl: string, host: string | undefined): string {
  const [publicOrigin = publicUrl, ...aliases] = listOwnOrigins(publicUrl);
  const { protocol } = new URL(publicUrl);
  const origin = URL.parse(`${protocol}//${host ?? ""}`)?.origin;
  return aliases.find((alias) => alias === origin) ?? publicOrigin;
}
