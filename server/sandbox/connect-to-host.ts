import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const CONNECT_TIMEOUT_MS = 10_000;

export interface HostAddress {
  address: string;
  family: number;
}

/** Resolves a host name to all its addresses. */
export type Lookup = (host: string) => Promise<readonly HostAddress[]>;

export function lookupAll(host: string): ReturnType<Lookup> {
  return lookup(host, { all: true });
}

/**
 * Connects to one of the addresses of a host, which the caller has checked. There is no second resolution, in which the name
 * could have another address (DNS rebinding).
 *
 * @param onSocket - receives the socket at once, for example to destroy it when nobody needs it any more
 * @throws the error of the system, or an `AbortError` after 10 s
 */
export async function connectTo(
  { host, port }: { host: string; port: number },
  addresses: readonly HostAddress[],
  onSocket: (socket: Socket) => void = () => {},
): Promise<Socket> {
  const socket = connect({
    host,
    port,
    autoSelectFamily: true,
    lookup: (_host, _options, callback) => callback(null, [...addresses]),
  });
  onSocket(socket);
  await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) }).catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
  return socket;
}
