/** Returns the header `Authorization` of HTTP Basic authentication (RFC 7617). The user name has no colon. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
