import { randomUUID } from "node:crypto";
import { watch } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { NodeServer } from "../../../../domain/ports/bundler.ts";
import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import { removeTree } from "../../../files/remove-tree.ts";
import type { AppAddress } from "../../../ports/app-address.ts";
import type { Mount, Sandbox, SandboxOutcome } from "../../../ports/sandbox.ts";
import { EgressForwarder } from "../../../sandbox/egress-forwarder.ts";
import { installedProgramFolders } from "../../../sandbox/installed-programs.ts";
import { RUNTIME_FOLDER } from "../../../sandbox/tree-archive/tree-archive.ts";
import type { RecordSink } from "../runtime-logs/record-sink.ts";
import type { UnpackedLayer } from "../script-version.ts";
import { NodeOutput } from "./node-output.ts";
import { NodeProcess, type StartedServer, stopServer } from "./node-process.ts";
import { prepareFiles } from "./server-files.ts";
import { RequestSockets } from "./request-sockets.ts";

/** Paths inside the sandbox. */
const SERVER_PATHS = {
  /** Where the files of the server are: where they were built, because builds write this path into files. */
  files: "/build",
  data: "/data",
  requests: "/run/app",
  egress: "/run/egress",
  /** The Node.js that the project names, if it is not that of the service. */
  runtime: `/build/${RUNTIME_FOLDER}`,
  preload: "/opt/node-server/preload.cjs",
} as const;

/** The port that a server should listen on. It has a network of its own, so that all have the same one. */
const PORT = 3000;

/** In MiB. */
const MEMORY_MB = 1024;
/** V8 collects garbage before the limit of the kernel ends the process. */
const HEAP_MB = 768;

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
  tools: ServerTools;
  startTimeoutMs: number;
  /** How long a server may run after SIGTERM. */
  stopGraceMs: number;
}

export interface NodeLaunch {
  command: string;
  /** Relative to the root of the files. */
  directory: string;
  /** The folders with the files, the uppermost first. */
  layers: readonly string[];
  /** The folder that keeps data; `null` for one that is removed with the process. */
  dataDirectory: string | null;
  env: Readonly<Record<string, string>>;
  hasNetwork: boolean;
  masks?: readonly string[];
  records?: RecordSink | undefined;
}

/** What to start of a server whose layers are unpacked. */
export function toLaunch({
  command,
  directory,
  layers,
}: NodeServer<UnpackedLayer>): Pick<NodeLaunch, "command" | "directory" | "layers"> {
  return { command, directory, layers: layers.map((each) => each.directory) };
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
      started.output.end();
      throw error;
    }
  }

  async #spawn(launch: NodeLaunch): Promise<StartedServer> {
    const { sandbox, launchRoot, tools, stopGraceMs } = this.#options;
    const folder = path.join(launchRoot, randomUUID());
    await using starting = new AsyncDisposableStack();
    await mkdir(folder, { recursive: true, mode: 0o711 });
    starting.defer(() => removeTree(folder));
    const sockets = starting.use(await RequestSockets.open(folder, PORT));
    const forwarder = launch.hasNetwork ? starting.use(await EgressForwarder.open()) : null;
    const output = new NodeOutput(launch.records ?? null, launch.masks ?? []);
    const [stopping, shuttingDown] = [new AbortController(), new AbortController()];
    const data = launch.dataDirectory ?? path.join(folder, "data");
    await mkdir(data, { recursive: true, mode: 0o700 });
    const files = await prepareFiles(sandbox, launch.layers, { folder, to: SERVER_PATHS.files });
    const outcome = sandbox.run({
      argv: ["sh", "-c", launch.command],
      cwd: path.posix.join(SERVER_PATHS.files, launch.directory),
      env: environment(launch, tools),
      mounts: [
        // Its owner is the user of the sandbox.
        { from: data, to: SERVER_PATHS.data, writable: true, keepsData: true },
        { from: sockets.folder, to: SERVER_PATHS.requests, writable: true },
        ...(forwarder === null ? [] : [{ from: forwarder.folder, to: SERVER_PATHS.egress, writable: false }]),
        { from: path.join(import.meta.dirname, "inside/preload.cjs"), to: SERVER_PATHS.preload, writable: false },
        ...tools.mounts,
        ...files.mounts,
      ],
      ...(files.layered === undefined ? {} : { layered: files.layered }),
      network: { kind: "none" },
      limits: LIMITS,
      onOutput: (chunk) => output.read(chunk, "info"),
      onErrorOutput: (chunk) => output.read(chunk, "error"),
      signal: stopping.signal,
      shutdown: { signal: shuttingDown.signal, graceMs: stopGraceMs },
    });
    outcome.catch(() => {});
    const resources = starting.move();
    return {
      sockets,
      output,
      outcome,
      shutDown: () => shuttingDown.abort(),
      stop: () => stopping.abort(),
      release: () => resources.disposeAsync(),
    };
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
      output.end();
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

/** Waits for the first socket of a server. */
async function untilSocket(sockets: RequestSockets, signal: AbortSignal): Promise<AppAddress> {
  let changed = Promise.withResolvers<void>();
  const watcher = watch(sockets.folder, { signal }, () => changed.resolve());
  watcher.on("error", () => changed.resolve());
  for (;;) {
    signal.throwIfAborted();
    changed = Promise.withResolvers<void>();
    const address = await sockets.take();
    if (address !== null) {
      watcher.close();
      return address;
    }
    await Promise.race([changed.promise, sleep(POLL_MS, null, { signal }).catch(() => {})]);
  }
}

/** A file system that reports no changes is read this often. */
const POLL_MS = 500;

function explainEnd(outcome: SandboxOutcome, output: NodeOutput): UnhealthyScript {
  const reason = output.lastError();
  const details = { printed: output.firstLines() };
  const end =
    outcome.reason === "exit"
      ? `ended with status ${outcome.code}`
      : outcome.reason === "memory"
        ? `used more than ${MEMORY_MB} MiB of memory`
        : outcome.reason === "disk"
          ? `wrote more than ${LIMITS.diskMb} MiB of files beside /data`
          : "was stopped";
  const message = `The server ${end} before it listened on a port`;
  return new UnhealthyScript(reason === null ? `${message}.` : `${message}: ${reason}`, details);
}

function environment({ directory, env }: NodeLaunch, tools: ServerTools): Record<string, string> {
  const programs = installedProgramFolders(SERVER_PATHS.files, directory).join(":");
  const { NODE_OPTIONS: options = "", PATH: ownPath, ...own } = env;
  const preload = `--require ${SERVER_PATHS.preload} --max-old-space-size=${HEAP_MB}`;
  return {
    NODE_ENV: "production",
    PORT: String(PORT),
    HOST: "0.0.0.0",
    HOSTNAME: "0.0.0.0",
    HOME: "/tmp/home",
    LANG: "C.UTF-8",
    DATABASE_URL: `file:${SERVER_PATHS.data}/app.db`,
    SQLITE_PATH: `${SERVER_PATHS.data}/app.db`,
    ...tools.env,
    ...own,
    PATH: [ownPath, SERVER_PATHS.runtime, programs, tools.env["PATH"] ?? "/usr/bin:/bin"].filter(Boolean).join(":"),
    NODE_OPTIONS: `${preload} ${options}`.trim(),
    // Without a sandbox, these paths are paths of the host.
    SERVICE_REQUESTS: SERVER_PATHS.requests,
    SERVICE_EGRESS: SERVER_PATHS.egress,
  };
}
