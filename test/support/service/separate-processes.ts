import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type CreatedOrganization, createOrganization } from "../../../domain/organizations/create-organization.ts";
import { startAppsPostgres } from "../../../server/database/apps-postgres.ts";
import { openOrm } from "../../../server/database/orm.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { RestClient } from "../clients/rest-client.ts";
import { startDiskS3 } from "../object-store/disk-s3.ts";
import { startMiniflareS3 } from "../object-store/s3-servers.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { freePort } from "./free-port.ts";
import { LoadBalancer } from "./load-balancer.ts";
import { PROJECT } from "./service-process.ts";
import { createTestDatabase } from "./test-databases.ts";

/** A process with some of the roles of the service. */
export interface RoleProcess {
  name: string;
  publicUrl: string;
  pid: number;
  output(): string;
  /** Sends a signal, and waits for the end of the process. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** An installation whose roles are processes of their own, on one database and one object store. With Cloudflare, there is no edge. */
export interface SeparateProcesses extends AsyncDisposable {
  /** The port at which the edge serves apps. */
  edgePort: number;
  /** The settings that all processes have in common. */
  settings: Readonly<Record<string, string>>;
  /**
   * Starts a process, or starts it again with the same data folder and ports.
   *
   * @param name - the name of the process, such as `worker-1`: the role with a number
   * @param env - settings of this process only
   */
  start(name: string, env?: Record<string, string>): Promise<RoleProcess>;
  /** A client of a process with the role `api`, with the key of the first organization. */
  client(api: RoleProcess): Promise<RestClient>;
  /** The tokens of the first organization. */
  tokens(): Promise<CreatedOrganization>;
  /** Creates further organizations, as an operator does. Call it when a process has started. */
  createOrganizations(count: number): Promise<CreatedOrganization[]>;
}

const READY = /The service is ready at (\S+)/;

/** @param edges - more than one are a cluster, behind a load balancer. The address of `edge-1` is 127.0.0.2 then, and so on */
export async function openSeparateProcesses(
  env: Record<string, string> = {},
  { edges = 1 } = {},
): Promise<SeparateProcesses> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const database = opening.use(await createTestDatabase());
  const apps = opening.use(await startAppsPostgres(path.join(folder.path, "apps-postgres"), createLogger("silent")));
  const { settings: s3 } = opening.use(
    edges === 1 ? await startMiniflareS3() : await startDiskS3(path.join(folder.path, "objects")),
  );
  const [edgePort, internalPort] = [await freePort(), await freePort()];
  const ports = new Map<string, number>();
  const running = new Set<ChildProcess>();
  opening.defer(async () => {
    for (const child of running) await endChild(child, "SIGKILL");
  });
  const shared: Record<string, string> = {
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
    ...(edges > 1 && { EDGE_CLUSTER: "on" }),
    ...env,
  };
  const hosts = edges === 1 ? ["127.0.0.1"] : Array.from({ length: edges }, (_, at) => `127.0.0.${at + 2}`);
  const dataDirectory = (name: string) => path.join(folder.path, name);
  const start = async (name: string, only: Record<string, string> = {}): Promise<RoleProcess> => {
    const [role = ""] = name.split("-");
    const port = ports.get(name) ?? (await freePort());
    ports.set(name, port);
    const host = hosts[Number(name.split("-")[1]) - 1] ?? "";
    const reach: Record<string, string> =
      env["EDGE_PLATFORM"] === "cloudflare"
        ? {}
        : role === "edge"
          ? { INTERNAL_PORT: String(internalPort), ...(edges > 1 && { HOST: host, EDGE_CLUSTER_HOST: host }) }
          : { EDGE_INTERNAL_URL: hosts.map((edge) => `https://${edge}:${internalPort}`).join(",") };
    const own = { ROLES: role, PORT: String(port), DATA_DIR: dataDirectory(name), ...reach };
    return { name, ...(await startChild({ ...shared, ...own, ...only }, running)) };
  };
  const tokens = async () =>
    JSON.parse(await readFile(path.join(dataDirectory("api-1"), "bootstrap.json"), "utf8")) as CreatedOrganization;
  const client = async (api: RoleProcess) => new RestClient(api.publicUrl, (await tokens()).api_key);
  const createOrganizations = async (count: number): Promise<CreatedOrganization[]> => {
    await using orm = Object.assign(openOrm(database.databaseUrl), { [Symbol.asyncDispose]: () => orm.close() });
    return orm.em.fork().transactional(async (em) => {
      const created: CreatedOrganization[] = [];
      for (let n = 1; n <= count; n++)
        created.push(await createOrganization(em, { name: `Tenant ${n}`, email: `${n}@example.com`, plan: "free" }));
      return created;
    });
  };
  if (edges > 1) {
    const backends: { url: string; readyz: string }[] = [];
    for (const [at, host] of hosts.entries()) {
      const port = await freePort();
      ports.set(`edge-${at + 1}`, port);
      backends.push({ url: `http://${host}:${edgePort}`, readyz: `http://${host}:${port}/readyz` });
    }
    opening.use(await LoadBalancer.start(backends, edgePort));
  }
  const opened = opening.move();
  return {
    edgePort,
    settings: shared,
    start,
    client,
    tokens,
    createOrganizations,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
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
  return { publicUrl, pid: child.pid ?? 0, output: () => output, end: (signal) => endChild(child, signal) };
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}
