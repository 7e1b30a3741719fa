import { connect } from "node:net";

/** The Postgres and Redis that the second half of the test suite runs on. */
export const TEST_SERVICES = {
  TEST_DATABASE_URL: process.env["TEST_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres",
  TEST_REDIS_URL: process.env["TEST_REDIS_URL"] ?? "redis://127.0.0.1:6379",
};

const PATIENCE_MS = 2000;
const DEFAULT_PORTS: Record<string, number> = {
  "postgres:": 5432,
  "postgresql:": 5432,
  "redis:": 6379,
  "rediss:": 6379,
};

/** Connects to each service once and says, in words without credentials, which do not answer and why. */
export async function unansweredServices(): Promise<string[]> {
  const answers = await Promise.all(Object.entries(TEST_SERVICES).map(([name, url]) => whyUnanswered(name, url)));
  return answers.filter((answer) => answer !== null);
}

async function whyUnanswered(name: string, url: string): Promise<string | null> {
  const { protocol, hostname, port } = new URL(url);
  const address = { host: hostname, port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0) };
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: PATIENCE_MS });
    const settle = (reason: string | null) => {
      socket.destroy();
      resolve(reason && `${name} (${address.host}:${address.port}, ${reason})`);
    };
    socket.once("connect", () => settle(null));
    socket.once("timeout", () => settle("no answer"));
    socket.once("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
  });
}
