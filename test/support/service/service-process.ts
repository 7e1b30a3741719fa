import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { CreatedOrganization } from "../../../domain/organizations/create-organization.ts";
import { openProgramsFolder } from "../../../server/drivers/code-runtime/program-folders.ts";
import { FilesystemTemporaryWorkspaces } from "../../../server/drivers/temporary-workspaces/filesystem.ts";
import { createTestDatabase, SERVICES, TEST_TOKEN_SECRET, type TestDatabase } from "./test-databases.ts";
import { RestClient } from "../clients/rest-client.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));

/** A data folder on which a test can start the service, kill it, and start it again. */
export interface Installation extends AsyncDisposable {
  dataDirectory: string;
  start(env?: Record<string, string>): Promise<ServiceProcess>;
}

/** The service as a separate process: `node server/main.ts`. */
export interface ServiceProcess {
  pid: number;
  publicUrl: string;
  tokens: CreatedOrganization;
  rest: RestClient;
  output(): string;
  /** Returns the ids of all descendants of the service. */
  descendants(): Promise<number[]>;
  /** Sends a signal, waits for the end of the process, and returns its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * @param createDatabase - creates the database on an outside PostgreSQL; by default one with all migrations
 * @param project - the folder of the service's sources
 */
export async function createInstallation(
  createDatabase = createTestDatabase,
  project = PROJECT,
): Promise<Installation> {
  const stack = new AsyncDisposableStack();
  const { path: dataDirectory } = stack.use(await temporaryFolder());
  // A killed service leaves the workspaces of its builds, which are mounted.
  stack.defer(() => new FilesystemTemporaryWorkspaces(path.join(dataDirectory, "builds")).clear());
  // And those of its programs. The next start removes them.
  stack.defer(async () => void (await openProgramsFolder(dataDirectory)));
  const running = new Set<ChildProcess>();
  stack.defer(async () => {
    for (const child of running) await endProcess(child, "SIGKILL");
  });
  const services = SERVICES === null ? {} : settingsOf(stack.use(await createDatabase()));
  const start = (env: Record<string, string> = {}) =>
    startProcess(project, { DATA_DIR: dataDirectory, ...services, ...env }, running);
  return { dataDirectory, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function settingsOf({ databaseUrl, redisUrl }: TestDatabase): Record<string, string> {
  return redisUrl === null ? { DATABASE_URL: databaseUrl } : { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
}

const READY = /The service is ready at (\S+)/;

async function startProcess(
  project: string,
  env: Record<string, string> & { DATA_DIR: string; DATABASE_URL?: string },
  running: Set<ChildProcess>,
): Promise<ServiceProcess> {
  const inherited = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };
  const secret = env["DATABASE_URL"] === undefined ? {} : { TOKEN_SECRET: TEST_TOKEN_SECRET };
  const child = spawn(process.execPath, ["server/main.ts"], {
    cwd: project,
    env: { ...inherited, PORT: "0", EDGE_PORT: "0", ...secret, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let output = "";
  const ready = new Promise<string>((resolve, reject) => {
    const readOutput = (chunk: Buffer): void => {
      output += String(chunk);
      const found = READY.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", readOutput);
    child.stderr.on("data", readOutput);
    child.once("exit", (code) => reject(new Error(`the service ended with ${code}:\n${output}`)));
  });
  const publicUrl = await ready;
  const tokens = JSON.parse(await readFile(path.join(env.DATA_DIR, "bootstrap.json"), "utf8")) as CreatedOrganization;
  const pid = child.pid ?? 0;
  return {
    pid,
    publicUrl,
    tokens,
    rest: new RestClient(publicUrl, tokens.api_key),
    output: () => output,
    descendants: () => descendantsOf(pid),
    end: (signal) => endProcess(child, signal),
  };
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, "exit");
  child.kill(signal);
  return ((await ended) as [number | null])[0];
}

/** Finds descendants in the process table. Call it while the process runs: orphaned descendants get another parent. */
async function descendantsOf(pid: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => null);
    if (stat !== null) parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const found = [pid];
  for (const parent of found) for (const [child, of] of parents) if (of === parent) found.push(child);
  return found.slice(1);
}

/** Returns the processes that are still running. A zombie does not count. */
export async function stillRunning(pids: number[]): Promise<number[]> {
  const isRunning = await Promise.all(
    pids.map((pid) =>
      readFile(`/proc/${pid}/stat`, "utf8").then(
        (stat) => !/\) [ZX] /.test(stat),
        () => false,
      ),
    ),
  );
  return pids.filter((_, at) => isRunning[at]);
}

/** Leaves out processes that end with the service: those of the embedded PostgreSQL, and the fork server. */
export async function withoutHelpers(pids: number[]): Promise<number[]> {
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_, at) => !/^postgres:|fork-server-process\.mjs\0/.test(commands[at] ?? ""));
}
