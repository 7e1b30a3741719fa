import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { appsPostgres, openNodeServers } from "../../server/composition/edge.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { publishServer } from "../support/edge/node-server.ts";
import { bundlePostgresClient } from "../support/edge/postgres-client.ts";
import { openTestPlatform, type TestPlatform } from "../support/edge/test-platform.ts";
import type { Attack, AttackEnvironment, AttackResult } from "./attack.ts";

/** How long an attack holds what it can. */
const HELD_MS = 12_000;
const NEIGHBOUR_TIMEOUT_MS = 30_000;

export interface PostgresTarget extends TestPlatform {
  /** What the server of the apps has logged. */
  postgresLines: string[];
}

/** Each request needs a new connection, a lock in the memory that all databases share, and a notification. */
export const NEIGHBOUR = `const { Client } = require("./client.js");
  const visit = async () => {
    const db = new Client();
    db.on("error", () => {});
    await db.connect();
    try {
      for (const each of ["create table if not exists visits (n int)", "drop table visits", "listen news", "notify news"]) await db.query(each);
    } finally { await db.end(); }
    return "fine";
  };
  require("http").createServer((request, response) => {
    visit().catch((error) => error.message).then((text) => response.end(text));
  }).listen(process.env.PORT);`;

const HOSTILE = (attack: string) => `
  const net = require("net");
  const { Client } = require("./client.js");
  const connect = async (options) => {
    const client = new Client(options);
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  /** Runs a statement again and again, in as many connections as it gets. */
  const flood = (statements, connections = 25) => {
    for (let n = 0; n < connections; n++) void (async () => {
      for (;;) try {
        const db = await connect();
        for (;;) for (const each of statements) await db.query(each);
      } catch { await new Promise((resolve) => setTimeout(resolve, 50)); }
    })();
    return "started";
  };
  const attack = async () => { ${attack} };
  require("http").createServer(({ url }, response) => {
    if (url !== "/attack") return response.end("fine");
    attack().catch((error) => error.message).then((text) => response.end(String(text)));
  }).listen(process.env.PORT);`;

export async function startAttack(t: TestPlatform, attack: string): Promise<string> {
  await publishWithDatabase(t, "hostile", HOSTILE(attack));
  return (await t.request("hostile", "/attack")).text;
}

export async function publishWithDatabase(t: TestPlatform, slug: string, code: string): Promise<void> {
  const files = { "server.js": code, "client.js": await bundlePostgresClient() };
  await publishServer(t, slug, files, { postgres: { variables: {} } });
}

/** An attack beside another app with a database, which must respond while the attack continues. */
export function postgresAttack(name: string, attack: (t: PostgresTarget) => Promise<AttackResult>): Attack {
  const run = async ({ groups, folder }: AttackEnvironment): Promise<AttackResult> => {
    const nodeServers = openNodeServers({ sandbox: "bubblewrap" }, groups);
    const dataDirectory = path.join(folder, "data");
    const postgresLines: string[] = [];
    const log = createLogger("info", { write: (line) => void postgresLines.push(line) });
    const postgres = appsPostgres({ appsDatabaseUrl: null, databaseUrl: null, dataDirectory }, log);
    const limits = { hangMs: 60_000 };
    await using t = await openTestPlatform({ groups, nodeServers, limits, dataDirectory, postgres });
    await publishWithDatabase(t, "neighbour", NEIGHBOUR);
    const { isContained, text } = await attack({ ...t, postgresLines });
    const response = await responseOfNeighbour(t);
    if (response === "fine") return { isContained, text };
    return { isContained: false, text: `${text}; the other app responds: ${response}` };
  };
  return { name, through: "app", run };
}

/** Requires that the other app works throughout an attack. */
export async function judgeNeighbour(t: TestPlatform): Promise<AttackResult> {
  let [requests, slowestMs] = [0, 0];
  for (const startedAt = Date.now(); Date.now() - startedAt < HELD_MS; requests++) {
    const sentAt = Date.now();
    const { text } = await t.request("neighbour");
    if (text !== "fine") return { isContained: false, text: `request ${requests + 1} of the other app: ${text}` };
    slowestMs = Math.max(slowestMs, Date.now() - sentAt);
  }
  return { isContained: true, text: `all ${requests} requests of the other app succeed, in at most ${slowestMs} ms` };
}

/** Until the watchdog has ended the connections that it must end, the other app may get errors. */
async function responseOfNeighbour(t: TestPlatform): Promise<string> {
  let text = "";
  for (const startedAt = Date.now(); Date.now() - startedAt < NEIGHBOUR_TIMEOUT_MS; await sleep(100)) {
    ({ text } = await t.request("neighbour").catch((error: unknown) => ({ text: String(error) })));
    if (text === "fine") break;
  }
  return text;
}

export async function largest(measure: () => Promise<number>): Promise<number> {
  let held = 0;
  for (const startedAt = Date.now(); Date.now() - startedAt < HELD_MS; await sleep(100))
    held = Math.max(held, await measure());
  return Math.ceil(held);
}

/** Private memory of the processes that serve connections of apps. */
export async function appMemoryMb(): Promise<number> {
  const read = (pid: string, file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
  let kilobytes = 0;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name)))
    if ((await read(pid, "cmdline")).startsWith("postgres: app_"))
      kilobytes += Number(/^RssAnon:\s+(\d+) kB$/m.exec(await read(pid, "status"))?.[1] ?? 0);
  return kilobytes / 1024;
}

export async function diskMb({ dataDirectory }: TestPlatform): Promise<number> {
  const folder = path.join(dataDirectory, "apps-database");
  const files = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) =>
      stat(path.join(file.parentPath, file.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1024 ** 2;
}
