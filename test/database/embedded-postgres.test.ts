import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { expect, test } from "vitest";
import { EmbeddedPostgres } from "../../server/database/embedded/embedded-postgres.ts";
import { DEFAULT_POOL_SIZE } from "../../server/database/orm.ts";
import { startInBackground } from "../../server/database/embedded/start-in-background.ts";
import { findPostgres } from "../../server/database/embedded/postgres-package.ts";
import { FolderInUse } from "../../server/files/folder-lock.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { memoryFolder } from "../support/memory-folder.ts";
import { stillRunning } from "../support/service/service-process.ts";
import type { TemporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

const OWNER = fileURLToPath(new URL("../support/database/postgres-owner.ts", import.meta.url));
const CREATE_TEMPLATE = fileURLToPath(new URL("../../scripts/create-database-template.ts", import.meta.url));
const LOG = createLogger("silent");

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

interface Owner {
  child: ChildProcess;
  /** The URL of its server, or the error. */
  line: string;
}

/** Starts a server from another process, as the user `uid`. */
async function startOwner(folder: string, uid = process.getuid?.() ?? 0): Promise<Owner> {
  const child = spawn(process.execPath, [OWNER, folder], { stdio: ["ignore", "pipe", "inherit"], uid, gid: uid });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, line };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

async function serverPid(folder: string): Promise<number> {
  const [pid] = (await readFile(path.join(folder, "data/postmaster.pid"), "utf8")).split("\n", 1);
  return Number(pid);
}

verifies(
  hazard(41),
  "PostgreSQL ends when the process that started it is killed, and no committed row is lost",
  async () => {
    await using folder = await memoryFolder();
    const { child, line: url } = await startOwner(folder.path);
    await query(url, "create table kept (n int)");
    for (let n = 0; n < 20; n++) await query(url, `insert into kept values (${n})`);
    const pid = await serverPid(folder.path);
    await kill(child);
    await expect.poll(() => stillRunning([pid])).toEqual([]);
    await using server = await EmbeddedPostgres.start(folder.path, LOG);
    expect(await query(server.url, "select count(*)::int as n from kept")).toEqual([{ n: 20 }]);
  },
);

test("a start directly after a kill waits for the processes that are still ending", async () => {
  await using folder = await memoryFolder();
  for (let turn = 0; turn < 3; turn++) {
    const { child, line } = await startOwner(folder.path);
    expect(line).toMatch(/^postgres:/);
    await kill(child);
  }
  await using server = await EmbeddedPostgres.start(folder.path, LOG);
  expect(await query(server.url, "select 1 as n")).toEqual([{ n: 1 }]);
});

test("new databases are copies of the one that setup prepared, so initdb does not run for each", async () => {
  await promisify(execFile)(process.execPath, [CREATE_TEMPLATE]);
  const readIdentifier = async (): Promise<unknown> => {
    await using folder = await memoryFolder();
    await using server = await EmbeddedPostgres.start(folder.path, LOG);
    return await query(server.url, "select system_identifier from pg_control_system()");
  };
  expect(await readIdentifier()).toEqual(await readIdentifier());
});

test("a lock file with the id of a process that is not PostgreSQL does not prevent a start", async () => {
  await using folder = await memoryFolder();
  {
    await using _server = await EmbeddedPostgres.start(folder.path, LOG);
  }
  await writeFile(path.join(folder.path, "data/postmaster.pid"), `${process.pid}\n/elsewhere\n1\n5432\n/run\n\n1 1\n`);
  await using server = await EmbeddedPostgres.start(folder.path, LOG);
  expect(await query(server.url, "select 1 as n")).toEqual([{ n: 1 }]);
});

test("a second process cannot start a server in the folder, but can connect to the running one", async () => {
  await using folder = await memoryFolder();
  const { child, line: url } = await startOwner(folder.path);
  try {
    await query(url, "create table shared (n int)");
    await expect(EmbeddedPostgres.start(folder.path, LOG)).rejects.toThrow(FolderInUse);
    const other = EmbeddedPostgres.connect(folder.path);
    expect(await query(other.url, "select count(*)::int as n from shared")).toEqual([{ n: 0 }]);
    other.release();
  } finally {
    await kill(child);
  }
});

test("a start in the background reports a folder that is in use when the caller awaits the server", async () => {
  await using folder = await memoryFolder();
  const { server } = await startInBackground(folder.path, LOG, DEFAULT_POOL_SIZE);
  const second = await startInBackground(folder.path, LOG, DEFAULT_POOL_SIZE);
  await expect(second.server).rejects.toThrow(FolderInUse);
  await using first = await server;
  expect(await query(first.url, "select 1 as n")).toEqual([{ n: 1 }]);
});

test("the server starts in a folder whose path is too long for a Unix socket", async () => {
  await using parent = await memoryFolder();
  const folder = path.join(parent.path, "x".repeat(120));
  await mkdir(folder);
  await using server = await EmbeddedPostgres.start(folder, LOG);
  expect(await query(server.url, "select 1 as n")).toEqual([{ n: 1 }]);
});

test("a database of an earlier version is rejected, and the error says what to do", async () => {
  await using folder = await memoryFolder();
  await mkdir(path.join(folder.path, "pglite"));
  await expect(EmbeddedPostgres.start(folder.path, LOG)).rejects.toThrow(/PGlite .* Set DATA_DIR to a new folder/);
  await rm(path.join(folder.path, "pglite"), { recursive: true });
  {
    await using _server = await EmbeddedPostgres.start(folder.path, LOG);
  }
  await writeFile(path.join(folder.path, "data/PG_VERSION"), "17\n");
  await expect(EmbeddedPostgres.start(folder.path, LOG)).rejects.toThrow(/created by PostgreSQL 17.*version 18/);
});

test("a platform without a PostgreSQL package is rejected, and the error says to set DATABASE_URL", () => {
  expect(() => findPostgres("darwin-arm64")).toThrow(/not on this platform \(darwin-arm64\): set DATABASE_URL/);
});

/** The user `nobody`, which has an entry in /etc/passwd, and a user without one. */
const [NOBODY, UNKNOWN_USER] = [65_534, 61_999];

test.skipIf(process.getuid?.() !== 0)(
  "without root, the server runs as the user of the service, who needs an entry in /etc/passwd",
  async () => {
    await using folder = await folderOf(NOBODY);
    const { child, line: url } = await startOwner(folder.path, NOBODY);
    expect(await query(url, "select 1 as n")).toEqual([{ n: 1 }]);
    const status = await readFile(`/proc/${await serverPid(folder.path)}/status`, "utf8");
    expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(String(NOBODY));
    await kill(child);
    await using other = await folderOf(UNKNOWN_USER);
    const rejected = await startOwner(other.path, UNKNOWN_USER);
    expect(rejected.line).toMatch(
      /needs an entry for user id 61999 in \/etc\/passwd\. Add one, or set DATABASE_URL\.$/,
    );
  },
);

async function folderOf(uid: number): Promise<TemporaryFolder> {
  const folder = await memoryFolder();
  await chown(folder.path, uid, uid);
  await chmod(folder.path, 0o700);
  return folder;
}

test("failed logins do not fill the log", async () => {
  await using folder = await memoryFolder();
  const warnings: object[] = [];
  const log = { debug() {}, warn: (details: object) => void warnings.push(details), error() {} };
  await using server = await EmbeddedPostgres.start(folder.path, log);
  const url = server.url.replace("service@", "unknown@");
  for (let n = 0; n < 60; n++) await expect(query(url, "select 1")).rejects.toThrow("does not exist");
  await server[Symbol.asyncDispose]();
  // Twenty, or twice as many if another minute began.
  expect(warnings.length).toBeGreaterThanOrEqual(20);
  expect(warnings.length).toBeLessThanOrEqual(40);
  expect(warnings).toContainEqual(expect.objectContaining({ note: "further ones of this minute are not logged" }));
});
