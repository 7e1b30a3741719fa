import { closeSync, openSync } from "node:fs";
import path from "node:path";

/** The kernel's bound on the path of a Unix domain socket, in bytes (`sun_path` without the final NUL). */
const LONGEST_PATH = 107;
const SOCKET_NAME = ".s.PGSQL.5432";

export interface SocketAddress {
  /** The folder of the socket, which a PostgreSQL client accepts as its host. It is valid in this process only. */
  host: string;
  release(): void;
}

/**
 * Returns a path of `folder` that is short enough for a socket. If the real path is too long, it leads through an open
 * file descriptor.
 */
export function socketAddress(folder: string): SocketAddress {
  if (Buffer.byteLength(path.join(folder, SOCKET_NAME)) <= LONGEST_PATH)
    return { host: folder, release: () => undefined };
  const descriptor = openSync(folder, "r");
  return { host: `/proc/self/fd/${descriptor}`, release: () => closeSync(descriptor) };
}

/** A connection string for the socket in `host`. */
export function socketUrl(host: string, user: string, database: string): string {
  return `postgres://${user}@${encodeURIComponent(host)}/${database}`;
}
