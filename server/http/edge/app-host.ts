/** A host name, which may end with a dot, and a port. */
const HOST = /^([^:]*?)\.?(?::(\d+))?$/;

export const INVALID_PORT = "The port in the Host header is invalid.";

/**
 * Reads `my-app` from `my-app.localhost:3001`. Returns `null` for a host that is not directly below the domain.
 *
 * @param domain - the domain of all apps, in lower case and without port
 */
export function readSlug(host: string, domain: string): string | null {
  const [, name] = HOST.exec(host.toLowerCase()) ?? [];
  const suffix = `.${domain}`;
  if (!name?.endsWith(suffix)) return null;
  const slug = name.slice(0, -suffix.length);
  return slug.includes(".") ? null : slug;
}

/** Whether the port in a host is valid. The runtime of the app would respond to an invalid one with a text of its own. */
export function hasValidPort(host: string): boolean {
  const [, , port = "0"] = HOST.exec(host) ?? [];
  return port.length <= 5 && Number(port) <= 65_535;
}
