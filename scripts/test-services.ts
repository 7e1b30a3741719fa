import { connect } from "node:net";

/** The PostgreSQL and Redis servers of the tests that run a second time. */
export const TEST_SERVICES = {
  TEST_DATABASE_URL: process.env["TEST_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres",
  TEST_REDIS_URL: process.env["TEST_REDIS_URL"] ?? "redis://127.0.0.1:6379",
};

const CONNECT_TIMEOUT_MS = 2000;
const DEFAULT_PORTS: Record<string, number> = {
  "postgres:": 5432,
  "postgresql:": 5432,
  "redis:": 6379,
  "rediss:": 6379,
};

/** Connects to each server once. Returns those that do not respond, with the reason and without credentials. */
export async function findUnavailableServices(): Promise<string[]> {
  const failures = await Promise.all(Object.entries(TEST_SERVICES).map(([name, url]) => checkConnection(name, url)));
  return failures.filter((failure) => failure !== null);
}

async function checkConnection(name: string, url: string): Promise<string | null> {
  const { protocol, hostname, port } = new URL(url);
  const address = { host: hostname, port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0) };
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: CONNECT_TIMEOUT_MS });
    const settle = (reason: string | null) => {
      socket.destroy();
      resolve(reason && `${name} (${address.host}:${address.port}, ${reason})`);
    };
    socket.once("connect", () => settle(null));
    socket.once("timeout", () => settle("no response"));
    socket.once("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
  });
}
