import { access, constants, mkdir, stat } from "node:fs/promises";
import { connect, createServer } from "node:net";
import path from "node:path";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";

type HostConfig = Pick<Config, "dataDirectory" | "host" | "port" | "edgePort"> &
  Partial<Pick<Config, "internalPort" | "edgeInternalUrls">>;

/** Addresses of this machine respond at once, unless a firewall drops the connection. */
const CONNECT_TIMEOUT_MS = 1000;

/**
 * Checks that the ports are free and that the data folder can be written, before anything else is created.
 *
 * @throws {ConfigError} for a folder that cannot be used
 * @throws `EADDRINUSE` for a port on which another program listens, `EADDRNOTAVAIL` for a host of another machine
 */
export async function checkHost({
  dataDirectory,
  host,
  port,
  edgePort,
  internalPort = null,
  edgeInternalUrls = [],
}: HostConfig): Promise<void> {
  const edgePorts = edgeInternalUrls.length === 0 ? [edgePort, internalPort ?? 0] : [];
  for (const each of new Set([port, ...edgePorts])) if (each !== 0) await checkPort(host, each);
  await createDataDirectory(dataDirectory);
}

async function createDataDirectory(folder: string): Promise<void> {
  try {
    await createFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(
      `DATA_DIR: the folder ${folder} cannot be used (${reason}). Set DATA_DIR to a folder that the service can write to.`,
    );
  }
}

/** Node's recursive `mkdir` never ends in file systems that refuse folders with ENOENT, such as /proc. */
async function createFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && path.dirname(folder) !== folder) return null;
    throw error;
  });
  if (found?.isDirectory() === true) return;
  if (found !== null) throw new Error("it is a file");
  await createFolder(path.dirname(folder));
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    // Another process has created it.
    if (error.code !== "EEXIST") throw error;
  });
}

/** A port that is free is not listened on: connections that arrive meanwhile would be reset instead of refused. */
async function checkPort(host: string, port: number): Promise<void> {
  await listenOnce(host, 0);
  if (await isAccepting(host, port)) await listenOnce(host, port);
}

async function isAccepting(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
  try {
    return await new Promise((resolve) => {
      socket.once("connect", () => resolve(true));
      for (const event of ["error", "timeout"]) socket.once(event, () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

async function listenOnce(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
