import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import type { CreatedOrganization } from "../../../domain/organizations/create-organization.ts";
import { startAppsPostgres } from "../../../server/database/apps-postgres.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { RestClient } from "../clients/rest-client.ts";
import { startMiniflareS3 } from "../object-store/s3-servers.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { PROJECT } from "./service-process.ts";
import { createTestDatabase } from "./test-databases.ts";

/** A process with some of the roles of the service. */
export interface RoleProcess {
  name: string;
  publicUrl: string;
  output(): string;
  /** Sends a signal, and waits for the end of the process. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** An installation whose roles are processes of their own, on one database and one object store. With Cloudflare, there is no edge. */
export interface SeparateProcesses extends AsyncDisposable {
  /** The port at which the edge serves apps. */
  edgePort: number;
  /**
   * Starts a process, or starts it again with the same data folder and ports.
   *
   * @param name - the name of the process, such as `worker-1`: the role with a number
   */
  start(name: string): Promise<RoleProcess>;
  /** A client of a process with the role `api`, with the key of the first organization. */
  client(api: RoleProcess): Promise<RestClient>;
}

const READY = /The service is ready at (\S+)/;

export async function openSeparateProcesses(env: Record<string, string> = {}): Promise<SeparateProcesses> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const database = opening.use(await createTestDatabase());
  const apps = opening.use(await startAppsPostgres(path.join(folder.path, "apps-postgres"), createLogger("silent")));
  const { settings: s3 } = opening.use(await startMiniflareS3());
  const [edgePort, internalPort] = [await freePort(), await freePort()];
  const ports = new Map<string, number>();
  const running = new Set<ChildProcess>();
  opening.defer(async () => {
    for (const child of running) await endChild(child, "SIGKILL");
  });
  const shared = {
    DATABASE_URL: database.databaseUrl,
    ...(database.redisUrl !== null && { REDIS_URL: database.redisUrl }),
    APPS_DATABASE_URL: apps.url,
    TOKEN_SECRET: "separate-processes-of-one-installation",
    APPS_DOMAIN: `localhost:${edgePort}`,
    EDGE_PORT: String(edgePort),
    OBJECT_STORE: "s3",
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_REGION: s3.region,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    ...env,
  };
  const dataDirectory = (name: string) => path.join(folder.path, name);
  const start = async (name: string): Promise<RoleProcess> => {
    const [role = ""] = name.split("-");
    const port = ports.get(name) ?? (await freePort());
    ports.set(name, port);
    const reach: Record<string, string> =
      env["EDGE_PLATFORM"] === "cloudflare"
        ? {}
        : role === "edge"
          ? { INTERNAL_PORT: String(internalPort) }
          : { EDGE_INTERNAL_URL: `https://127.0.0.1:${internalPort}` };
    const own = { ROLES: role, PORT: String(port), DATA_DIR: dataDirectory(name), ...reach };
    return { name, ...(await startChild({ ...shared, ...own }, running)) };
  };
  const client = async (api: RoleProcess): Promise<RestClient> => {
    const file = path.join(dataDirectory("api-1"), "bootstrap.json");
    const { api_key: key } = JSON.parse(await readFile(file, "utf8")) as CreatedOrganization;
    return new RestClient(api.publicUrl, key);
  };
  const opened = opening.move();
  return { edgePort, start, client, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function startChild(env: Record<string, string>, running: Set<ChildProcess>): Promise<Omit<RoleProcess, "name">> {
  const inherited = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };
  const child = spawn(process.execPath, ["server/main.ts"], {
    cwd: PROJECT,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let output = "";
  const publicUrl = await new Promise<string>((resolve, reject) => {
    const readOutput = (chunk: Buffer): void => {
      output += String(chunk);
      const found = READY.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", readOutput);
    child.stderr.on("data", readOutput);
    child.once("exit", (code) =>
      reject(new Error(`the process with the role ${env["ROLES"]} ended with ${code}:\n${output}`)),
    );
  });
  return { publicUrl, output: () => output, end: (signal) => endChild(child, signal) };
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

/** A free port below those that the system gives to clients and to servers on port 0. */
async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000);
  const server = createServer().listen(port, "127.0.0.1");
  const [event] = await Promise.race([
    once(server, "listening").then(() => ["listening"]),
    once(server, "error").then(() => ["error"]),
  ]);
  if (event === "error") return await freePort();
  server.close();
  await once(server, "close");
  return port;
}
