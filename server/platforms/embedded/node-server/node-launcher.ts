import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { NodeServer, PostgresUse } from "../../../../domain/ports/bundler.ts";
import { NothingListens, ServerMigrationFailed, UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import { removeTree } from "../../../files/remove-tree.ts";
import type { AppAddress } from "../../../ports/app-address.ts";
import type { PostgresDatabase } from "../../../ports/postgres.ts";
import type { Mount, Sandbox, SandboxCommand, SandboxOutcome } from "../../../ports/sandbox.ts";
import { EgressForwarder } from "../../../sandbox/egress-forwarder.ts";
import type { RecordSink } from "../runtime-logs/record-sink.ts";
import type { UnpackedLayer } from "../script-version.ts";
import { connectDatabase } from "./database-connection.ts";
import { KEPT_FILES_MOUNT, Keeping, withKeptFiles } from "./kept-files.ts";
import type { LaunchRecords } from "./launch-records.ts";
import { NodeOutput } from "./node-output.ts";
import { NodeProcess, type StartedServer, stopServer } from "./node-process.ts";
import { RequestSockets, untilSocket } from "./request-sockets.ts";
import { SERVER_PATHS, SERVER_PORT, serverEnvironment } from "./server-environment.ts";
import { prepareFiles } from "./server-files.ts";
import type { Preload } from "./write-preload.ts";

/** In MiB. */
const MEMORY_MB = 1024;
const MIGRATION_TIMEOUT_MS = 10 * 60_000;

const LIMITS = {
  wallTimeMs: Infinity,
  memoryMb: MEMORY_MB,
  processes: 256,
  fileSizeMb: 2048,
  diskMb: 1024,
  outputBytes: Infinity,
  outputBytesPerSecond: 1_000_000,
} as const;

/** The programs that start commands find beside Node.js, such as npm. */
export interface ServerTools {
  mounts: readonly Mount[];
  env: Readonly<Record<string, string>>;
}

export interface NodeLauncherOptions {
  sandbox: Sandbox;
  /** A folder for files that exist only as long as a process. */
  launchRoot: string;
  launchRecords: LaunchRecords;
  tools: ServerTools;
  startTimeoutMs: number;
  /** How long a server may run after SIGTERM. */
  stopGraceMs: number;
}

export interface NodeLaunch {
  /** The public URL of the app. */
  url: string;
  command: string;
  /** Relative to the root of the files. */
  directory: string;
  /** The folders with the files, the uppermost first. */
  layers: readonly string[];
  postgres?: PostgresUse;
  migration?: string;
  /** The folder that keeps data; `null` for one that is removed with the process. */
  dataDirectory: string | null;
  /** The database of a server that uses PostgreSQL; `null` if its owner has named another one. */
  database: PostgresDatabase | null;
  env: Readonly<Record<string, string>>;
  /** Whether it is the first start of a version, whose owner reads its log. */
  isNew?: boolean;
  hasNetwork: boolean;
  /** Loaded after the file that connects the server. */
  preload?: Preload | undefined;
  masks?: readonly string[];
  records?: RecordSink | undefined;
}

/** What to start of a server whose layers are unpacked. */
export function toLaunch({ layers, ...server }: NodeServer<UnpackedLayer>): ServerLaunch {
  return { ...server, layers: layers.map((each) => each.directory) };
}

type ServerLaunch = Omit<NodeServer, "layers"> & Pick<NodeLaunch, "layers">;

/** The sandbox of one process, without the process. Disposing of it removes its folders. */
interface PreparedSandbox extends AsyncDisposable {
  sockets: RequestSockets;
  output: NodeOutput;
  keeping: Keeping;
  command: Omit<SandboxCommand, "argv" | "limits" | "signal">;
}

/** Starts Node servers. Each has its own sandbox, with a copy of its files that it can write to, and no network but the forwarder. */
export class NodeLauncher {
  readonly #options: NodeLauncherOptions;

  constructor(options: NodeLauncherOptions) {
    this.#options = options;
  }

  /**
   * Starts a server and waits until it listens.
   *
   * @throws {UnhealthyScript} when it ends, or does not listen in time
   */
  async start(launch: NodeLaunch, signal: AbortSignal): Promise<NodeProcess> {
    signal.throwIfAborted();
    const started = await this.#spawn(launch);
    try {
      return new NodeProcess(started, await this.#untilListening(started, signal));
    } catch (error) {
      await stopServer(started);
      throw error;
    }
  }

  /**
   * Runs the command that brings the database of a server up to date, to its end.
   *
   * @throws {ServerMigrationFailed} when it fails
   */
  async migrate(launch: NodeLaunch, signal: AbortSignal): Promise<void> {
    const { migration } = launch;
    if (migration === undefined) return;
    signal.throwIfAborted();
    await using prepared = await this.#prepare(launch);
    const { command, output, keeping } = prepared;
    const limits = { ...LIMITS, wallTimeMs: MIGRATION_TIMEOUT_MS };
    const outcome = await this.#options.sandbox.run({
      ...command,
      argv: await this.#argvOf(launch, migration),
      limits,
      signal,
    });
    output.end();
    await keeping.keep();
    signal.throwIfAborted();
    if (outcome.reason === "exit" && outcome.code === 0) return;
    const { message, printed } = explainEnd(outcome, output, (end) => `The migration \`${migration}\` ${end}`);
    throw new ServerMigrationFailed(message, { printed });
  }

  async #spawn(launch: NodeLaunch): Promise<StartedServer> {
    await using starting = new AsyncDisposableStack();
    const { sockets, output, command, keeping } = starting.use(await this.#prepare(launch));
    const { sandbox, stopGraceMs } = this.#options;
    const [stopping, shuttingDown] = [new AbortController(), new AbortController()];
    let readCpuMs = () => 0;
    const running = sandbox.run({
      ...command,
      onStart: (read) => (readCpuMs = read),
      argv: await this.#argvOf(launch, launch.command),
      limits: LIMITS,
      signal: stopping.signal,
      shutdown: { signal: shuttingDown.signal, graceMs: stopGraceMs },
    });
    const outcome = running.finally(() => output.end());
    outcome.catch(() => {});
    const finished = outcome.then(keeping.atEnd, keeping.atEnd);
    const resources = starting.move();
    return {
      sockets,
      output,
      outcome,
      finished,
      accept: keeping.accept,
      hasUnkeptFiles: keeping.hasWritten,
      readCpuMs: () => readCpuMs(),
      shutDown: () => shuttingDown.abort(),
      stop: () => stopping.abort(),
      release: () => resources.disposeAsync(),
    };
  }

  async #prepare(launch: NodeLaunch): Promise<PreparedSandbox> {
    const { sandbox, launchRoot, tools } = this.#options;
    const folder = path.join(launchRoot, randomUUID());
    await using preparing = new AsyncDisposableStack();
    await mkdir(folder, { recursive: true, mode: 0o711 });
    preparing.defer(() => removeTree(folder));
    const sockets = preparing.use(await RequestSockets.open(folder, SERVER_PORT));
    const forwarder = launch.hasNetwork ? preparing.use(await EgressForwarder.open()) : null;
    const output = new NodeOutput(launch.records ?? null, launch.masks ?? []);
    const data = launch.dataDirectory ?? path.join(folder, "data");
    await mkdir(data, { recursive: true, mode: 0o700 });
    const files = await prepareFiles(sandbox, launch.layers, { folder, to: SERVER_PATHS.files });
    const keeping = new Keeping({ ...this.#options, data, written: files.written, ...launch });
    const database = await connectDatabase(sandbox, launch, folder);
    const command = {
      cwd: path.posix.join(SERVER_PATHS.files, launch.directory),
      env: serverEnvironment({ ...launch, database: database.variables }, tools.env),
      mounts: [
        // Its owner is the user of the sandbox.
        { from: data, to: SERVER_PATHS.data, writable: true, keepsData: true },
        { from: sockets.folder, to: SERVER_PATHS.requests, writable: true },
        ...(forwarder === null ? [] : [{ from: forwarder.folder, to: SERVER_PATHS.egress, writable: false }]),
        { from: path.join(import.meta.dirname, "inside/preload.cjs"), to: SERVER_PATHS.preload, writable: false },
        ...(launch.preload === undefined ? [] : [launch.preload.mount]),
        KEPT_FILES_MOUNT,
        ...database.mounts,
        ...tools.mounts,
        ...files.mounts,
      ],
      ...(files.layered === undefined ? {} : { layered: files.layered }),
      loopbackPorts: database.loopbackPorts,
      network: { kind: "none" },
      onOutput: (chunk: Uint8Array) => output.read(chunk, "info"),
      onErrorOutput: (chunk: Uint8Array) => output.read(chunk, "error"),
    } as const;
    const resources = preparing.move();
    return { sockets, output, command, keeping, [Symbol.asyncDispose]: () => resources.disposeAsync() };
  }

  async #argvOf({ dataDirectory, isNew = false }: NodeLaunch, command: string): Promise<[string, ...string[]]> {
    return dataDirectory === null ? ["sh", "-c", command] : withKeptFiles(command, dataDirectory, isNew);
  }

  async #untilListening({ sockets, outcome, output }: StartedServer, signal: AbortSignal): Promise<AppAddress> {
    const { startTimeoutMs } = this.#options;
    const finished = new AbortController();
    const stop = AbortSignal.any([signal, finished.signal]);
    const late = sleep(startTimeoutMs, null, { signal: stop }).then(() => {
      const details = { printed: output.firstLines() };
      throw new UnhealthyScript(`The server did not listen on a port within ${startTimeoutMs / 1000} s.`, details);
    });
    const ended = outcome.then((result) => {
      throw explainEnd(result, output);
    });
    late.catch(() => {});
    ended.catch(() => {});
    try {
      return await Promise.race([untilSocket(sockets, stop), late, ended]);
    } finally {
      finished.abort();
    }
  }
}

function explainEnd(
  outcome: SandboxOutcome,
  output: NodeOutput,
  describe = (end: string) => `The server ${end} before it listened on a port`,
): UnhealthyScript {
  const reason = output.lastError();
  const details = { printed: output.firstLines() };
  const limits: Partial<Record<SandboxOutcome["reason"], string>> = {
    exit: `ended with status ${"code" in outcome ? outcome.code : ""}`,
    memory: `used more than ${MEMORY_MB} MiB of memory`,
    disk: `wrote more than ${LIMITS.diskMb} MiB of files beside /data`,
    time: "took too long",
  };
  const message = describe(limits[outcome.reason] ?? "was stopped");
  const isWithoutError = outcome.reason === "exit" && outcome.code === 0;
  return new (isWithoutError ? NothingListens : UnhealthyScript)(
    reason === null ? `${message}.` : `${message}: ${reason}`,
    details,
  );
}
