import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { appRequest } from "../edge/app-request.ts";
import { postgresProject } from "../edge/postgres-client.ts";
import { Repository } from "../builds/git-repository.ts";
import type { RestClient } from "../clients/rest-client.ts";
import { waitFor } from "../time-limits.ts";

/** How many keys a Worker writes. It replaces their values again and again. */
const KEYS = 7;

/** A Worker that writes the number of each request to everything that a Worker can store in. */
const WORKER = {
  "wrangler.json": JSON.stringify({
    name: "store",
    main: "worker.js",
    compatibility_date: "2026-01-01",
    d1_databases: [{ binding: "DB", database_name: "main", database_id: "declared" }],
    kv_namespaces: [{ binding: "KV", id: "values" }],
    r2_buckets: [{ binding: "BUCKET", bucket_name: "files" }],
    durable_objects: { bindings: [{ name: "LOG", class_name: "Log" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["Log"] }],
  }),
  "migrations/0001_items.sql": "create table items (n integer primary key, text text)",
  "worker.js": `
    import { DurableObject } from "cloudflare:workers";
    export class Log extends DurableObject {
      constructor(state, env) {
        super(state, env);
        state.storage.sql.exec("create table if not exists items (n integer primary key)");
      }
      add(n) { this.ctx.storage.sql.exec("insert or ignore into items values (?)", n); }
      all() { return this.ctx.storage.sql.exec("select n from items order by n").toArray().map(({ n }) => n); }
    }
    const textOf = (n) => (n + " ").repeat(1000);
    export default {
      async fetch(request, { DB, KV, BUCKET, LOG }) {
        const log = LOG.get(LOG.idFromName("log"));
        const n = Number(new URL(request.url).searchParams.get("n"));
        const key = "k" + (n % ${KEYS});
        if (request.method === "POST") {
          await DB.prepare("insert or ignore into items values (?, ?)").bind(n, textOf(n)).run();
          await KV.put(key, textOf(n));
          await BUCKET.put(key, textOf(n));
          await log.add(n);
          return new Response("stored");
        }
        const { results } = await DB.prepare("select n, text from items order by n").all();
        const values = [], objects = [];
        for (const { name } of (await KV.list()).keys) values.push([name, await KV.get(name)]);
        for (const { key } of (await BUCKET.list()).objects) objects.push([key, await (await BUCKET.get(key)).text()]);
        const [[check]] = await DB.prepare("pragma quick_check").raw();
        return Response.json({ rows: results, check, values, objects, log: await log.all() });
      },
    };`,
};

/** A Node server that writes the number of each request to a SQLite file, a text file and PostgreSQL. */
async function serverFiles(): Promise<Record<string, string>> {
  return {
    ...(await postgresProject()),
    "migrate.js": `
      const { Client } = require("pg");
      (async () => {
        const db = new Client();
        await db.connect();
        await db.query("create table if not exists items (n integer primary key)");
        await db.end();
      })();`,
    "server.js": `
      const { appendFileSync, readFileSync } = require("fs");
      const { DatabaseSync } = require("node:sqlite");
      const { Pool } = require("pg");
      const pool = new Pool();
      pool.on("error", () => {});
      const file = new DatabaseSync("/data/app.db");
      appendFileSync("/data/lines.txt", "");
      file.exec("pragma journal_mode = wal; create table if not exists items (n integer primary key)");
      require("http").createServer(async (request, response) => {
        const n = Number(new URL(request.url, "http://app").searchParams.get("n"));
        if (request.method === "POST") {
          await pool.query("insert into items values ($1)", [n]);
          file.prepare("insert into items values (?)").run(n);
          appendFileSync("/data/lines.txt", n + "\\n");
          return response.end("stored");
        }
        const { rows } = await pool.query("select n from items order by n");
        const numbers = file.prepare("select n from items order by n").all().map(({ n }) => n);
        const lines = readFileSync("/data/lines.txt", "utf8").split("\\n").filter(Boolean).map(Number);
        response.end(JSON.stringify({ rows: rows.map(({ n }) => n), numbers, lines }));
      }).listen(process.env.PORT);`,
  };
}

/** Creates the repositories `acme/store`, a Worker, and `acme/server`, a Node server. */
export async function createBackupApps(folder: string): Promise<void> {
  await (await Repository.create(folder, "acme/store")).commitFiles(WORKER);
  await (await Repository.create(folder, "acme/server")).commitFiles(await serverFiles());
}

export interface BackupApp {
  id: string;
  url: string;
}

export async function deployReady(rest: RestClient, repo: string): Promise<BackupApp> {
  const { body } = await rest.deploy({ repo });
  const id = String(body["app_id"]);
  await waitFor(async () => expect((await rest.get(`/v1/apps/${id}`)).body["status"]).toMatch(/ready|failed/));
  const app = (await rest.get(`/v1/apps/${id}`)).body;
  expect(app).toMatchObject({ status: "ready", error: null });
  return { id, url: String(app["url"]) };
}

/** What the Worker has stored. */
export interface WorkerState {
  rows: { n: number; text: string }[];
  /** What SQLite says about the integrity of the database. */
  check: string;
  values: [string, string | null][];
  objects: [string, string][];
  log: number[];
}

/** What the Node server has stored. */
export interface ServerState {
  rows: number[];
  numbers: number[];
  lines: number[];
}

export async function readState<T>(url: string): Promise<T> {
  const { status, text } = await appRequest(url);
  expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
  return JSON.parse(text) as T;
}

export function numbersUpTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

/** Expects the state of the app at one moment: everything until a number, and nothing after it. */
export function expectWorkerState({ rows, check, values, objects, log }: WorkerState, acknowledged: number): void {
  const textOf = (n: number) => `${n} `.repeat(1000);
  expect(check).toBe("ok");
  expect(rows.map(({ n }) => n)).toEqual(numbersUpTo(rows.length));
  expect(rows.every(({ n, text }) => text === textOf(n))).toBe(true);
  expect(log).toEqual(numbersUpTo(log.length));
  expect(Math.min(rows.length, log.length)).toBeGreaterThanOrEqual(acknowledged);
  for (const entries of [values, objects]) {
    expect(entries).toHaveLength(7);
    // A value that is missing would be null, and a torn one would have another text.
    for (const [key, value] of entries) {
      const n = Number.parseInt(value ?? "", 10);
      expect([key, value]).toEqual([`k${n % 7}`, textOf(n)]);
      expect(n).toBeGreaterThan(acknowledged - 7);
    }
  }
}

/** Sends numbered requests, each after the response to the one before. */
export class Writer {
  readonly #url: string;
  readonly #repeats: boolean;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  /** The number of the last request with a response. */
  acknowledged = 0;

  /** @param options - `repeats` sends a request that failed again. Without it, a failure ends the writer */
  constructor(url: string, { repeats = false } = {}) {
    this.#url = url;
    this.#repeats = repeats;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<number> {
    this.#stopping.abort();
    await this.#running;
    return this.acknowledged;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const problem = await this.#write(this.acknowledged + 1).catch((error: Error) => error.message);
      if (problem === null) this.acknowledged++;
      else if (!this.#repeats) throw new Error(problem);
      else await delay(100);
    }
  }

  /** Returns what was wrong, or `null`. */
  async #write(n: number): Promise<string | null> {
    const { status, text } = await appRequest(`${this.#url}/?n=${n}`, { method: "POST" });
    return status === 200 && text === "stored" ? null : `The app responded with ${status}: ${text}`;
  }
}
