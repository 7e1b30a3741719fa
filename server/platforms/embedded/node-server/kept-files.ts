import { randomUUID } from "node:crypto";
import { lstat } from "node:fs/promises";
import path from "node:path";
import type { LaunchRecords, ServerFolders } from "./launch-records.ts";
import { isRecord, parseJson } from "../../../../domain/shared/json.ts";
import { FairQueue } from "../../../../domain/shared/fair-queue.ts";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { Mount, Sandbox } from "../../../ports/sandbox.ts";
import { SANDBOX_NODE } from "../../../sandbox/sandbox-environment.ts";
import { listBeneath } from "../app-databases/open-beneath.ts";
import type { RecordSink } from "../runtime-logs/record-sink.ts";
import { canBeData } from "./inside/kept-files/data-files.ts";
import type { KeepReport } from "./inside/kept-files/keep-files.ts";
import { SERVER_PATHS } from "./server-environment.ts";

/** In `/data`. See inside/kept-files. */
const KEPT = "beside-code";
const PROGRAMS = "/opt/kept-files";
const WRITTEN = "/written";
const LAYERS = "/layers";

const LIMITS = {
  wallTimeMs: 20_000,
  memoryMb: 512,
  processes: 16,
  fileSizeMb: 2048,
  diskMb: 2048,
  outputBytes: 4 * 1024 * 1024,
} as const;
/** When many servers end at the same time. */
const RUNNING = new FairQueue({ running: 4, runningPerKey: 4, waiting: 10_000 }, "too many servers have ended");
const MAX_NAMED = 10;
const MAX_SEARCHED = 5000;
const DATABASE_NAME = /\.(?:db|sqlite3?)$/;

export const KEPT_FILES_MOUNT: Mount = {
  from: path.join(import.meta.dirname, "inside/kept-files"),
  to: PROGRAMS,
  writable: false,
};

/**
 * The arguments of a command that first places what earlier processes have left beside the code of a server.
 *
 * @param isNew - whether the owner of the app is told which files of a new deployment are not used
 */
export async function withKeptFiles(command: string, data: string, isNew: boolean): Promise<[string, ...string[]]> {
  if (!(await hasKeptFiles(data))) return ["sh", "-c", command];
  // The options of the app are not for this program.
  const program = ["env", "-u", "NODE_OPTIONS", SANDBOX_NODE, `${PROGRAMS}/place-files.ts`];
  const place = [...program, SERVER_PATHS.files, SERVER_PATHS.data, ...(isNew ? ["--new"] : [])];
  return ["sh", "-c", `command=$1; shift; "$@" || exit; exec sh -c "$command"`, "sh", command, ...place];
}

const hasKeptFiles = async (data: string) =>
  (await lstat(path.join(data, KEPT)).catch(nullIfMissing))?.isDirectory() === true;

/** Keeps what a server wrote beside its code, after its end, and says so in the log of the app. */
export async function keepFiles(sandbox: Sandbox, folders: ServerFolders, records?: RecordSink): Promise<void> {
  if (!(await hasKeptFiles(folders.data)) && (await listWritten(folders.written)).length === 0) return;
  const print = (level: string, message: string) => records?.print([Date.now(), level, null, message]);
  // How the server ended is known without this.
  const report = await RUNNING.run(null, () => runKeepFiles(sandbox, folders)).catch(() => null);
  if (report === null) return print("warn", "What the server wrote beside its code could not be kept in /data.");
  const { added, failed, isComplete } = report;
  if (added.length > 0)
    print(
      "info",
      `What the server wrote beside its code is kept in /data/${KEPT}, and is at the same place at its next start: ${namesOf(added)}.`,
    );
  if (failed.length > 0) print("warn", `These files beside the code could not be kept in /data: ${namesOf(failed)}.`);
  if (!isComplete) print("warn", "The server has too many files beside its code. Not all of them were kept in /data.");
}

function namesOf(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return (
    names
      .slice(0, MAX_NAMED)
      .map((name) => JSON.stringify(name))
      .join(", ") + more
  );
}

export interface KeepingOptions extends ServerFolders {
  sandbox: Sandbox;
  launchRecords: LaunchRecords;
  /** `null` if nothing is kept. */
  dataDirectory: string | null;
  records?: RecordSink | undefined;
}

/** Keeps what one process of a server writes beside its code. */
export class Keeping {
  readonly #options: KeepingOptions;
  readonly #id = randomUUID();
  readonly #startedAt = Date.now();
  #isAccepted = false;

  constructor(options: KeepingOptions) {
    this.#options = options;
  }

  /** From now on, what the server writes is kept at its end, also if the service is killed. */
  accept = async (): Promise<void> => {
    const { data, written, layers, launchRecords, dataDirectory } = this.#options;
    if (dataDirectory === null) return;
    this.#isAccepted = true;
    await launchRecords.write(this.#id, { data, written, layers });
  };

  hasWritten = async (): Promise<boolean> =>
    this.#options.dataDirectory !== null && hasWrittenData(this.#options.written, this.#startedAt);

  /** Keeps the files of a process that has ended, if it was accepted. */
  atEnd = async (): Promise<void> => {
    if (!this.#isAccepted) return;
    await this.keep();
    await this.#options.launchRecords.remove(this.#id).catch(() => undefined);
  };

  keep = async (): Promise<void> => {
    const { sandbox, records, dataDirectory } = this.#options;
    if (dataDirectory !== null) await keepFiles(sandbox, this.#options, records).catch(() => undefined);
  };
}

/** The app can write to all of these folders, so the program has the rights of the app only. */
async function runKeepFiles(sandbox: Sandbox, { data, written, layers }: ServerFolders): Promise<KeepReport | null> {
  const mounted = layers.map((layer, index) => ({ from: layer, to: `${LAYERS}/${index}`, writable: false }));
  const chunks: Uint8Array[] = [];
  const outcome = await sandbox.run({
    argv: [SANDBOX_NODE, `${PROGRAMS}/keep-files.ts`, WRITTEN, SERVER_PATHS.data, ...mounted.map(({ to }) => to)],
    cwd: "/tmp",
    env: {},
    mounts: [
      { from: data, to: SERVER_PATHS.data, writable: true, keepsData: true },
      { from: written, to: WRITTEN, writable: true, keepsData: true },
      ...mounted,
      KEPT_FILES_MOUNT,
    ],
    limits: LIMITS,
    network: { kind: "none" },
    signal: new AbortController().signal,
    onOutput: (chunk) => chunks.push(chunk),
    onErrorOutput: () => undefined,
  });
  const report = outcome.reason === "exit" && outcome.code === 0 ? parseJson(Buffer.concat(chunks).toString()) : null;
  return isRecord(report) ? (report as unknown as KeepReport) : null;
}

/** Follows no links. */
function listWritten(written: string): Promise<string[]> {
  return listBeneath(written, { entries: MAX_SEARCHED, depth: 16, leftOut: ["node_modules", ".git", ".next"] });
}

/**
 * Whether a running server may have written data beside its code. A database without a usual name is found at its end only.
 *
 * @param startedAt - what is older is a copy of the deployment
 */
async function hasWrittenData(written: string, startedAt: number): Promise<boolean> {
  const names = await listWritten(written);
  if (names.length >= MAX_SEARCHED) return true;
  for (const name of names.filter((each) => canBeData(each, DATABASE_NAME.test(each)))) {
    const status = await lstat(path.join(written, name)).catch(() => null);
    if (status !== null && status.mtimeMs >= startedAt) return true;
  }
  return false;
}
