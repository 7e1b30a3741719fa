/** The address at which this machine reaches a server that listens on `host`. */
export function reachable(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
}
