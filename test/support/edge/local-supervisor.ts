import path from "node:path";
import type { Script } from "../../../domain/ports/edge-platform.ts";
import type { AppProcess } from "../../../server/platforms/embedded/app-process.ts";
import { EmbeddedRuntimeLogs } from "../../../server/platforms/embedded/runtime-logs/embedded-runtime-logs.ts";
import type { ScriptVersion } from "../../../server/platforms/embedded/script-version.ts";
import { ScriptStore } from "../../../server/platforms/embedded/scripts/script-store.ts";
import { ON_THIS_EDGE } from "../../../server/platforms/embedded/app-placement.ts";
import { Supervisor } from "../../../server/platforms/embedded/supervisor/supervisor.ts";
import type { SupervisorLimits } from "../../../server/platforms/embedded/supervisor/supervisor-options.ts";
import type { WorkerdLaunch } from "../../../server/platforms/embedded/workerd/workerd-launcher.ts";
import { WorkerdOutput } from "../../../server/platforms/embedded/workerd/workerd-output.ts";
import { ProcessExit, WorkerdProcess } from "../../../server/platforms/embedded/workerd/workerd-process.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import type { LogEntry } from "./test-platform.ts";
import { TestVariables } from "./test-variables.ts";
import { type FormBinding, writeUploadForm } from "./upload-form.ts";

/** The process of an app, without an operating system process. A test sets what the supervisor observes. */
export class LocalProcess extends WorkerdProcess {
  readonly launch: WorkerdLaunch;
  resident = 0;
  isHanging = false;
  cpuTimeMs = 0;
  hasUsedUpMemory = false;
  /** How often its event loop was checked. */
  probes = 0;
  isStopped = false;
  readonly #exit: ProcessExit;

  constructor(launch: WorkerdLaunch, port: number) {
    const exit = new ProcessExit();
    super({ port, exit, launched: null as never, output: new WorkerdOutput(), resources: new AsyncDisposableStack() });
    this.launch = launch;
    this.#exit = exit;
  }

  /** Ends the process without the supervisor. */
  crash(): void {
    this.#exit.mark();
  }

  override hasExceededMemory(): boolean {
    return this.hasUsedUpMemory;
  }

  override async residentMb(): Promise<number> {
    return this.resident;
  }

  override async isResponsive(): Promise<boolean> {
    this.probes++;
    return !this.isHanging;
  }

  override async cpuMs(): Promise<number> {
    return this.cpuTimeMs;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.isStopped = true;
    this.#exit.mark();
  }
}

export interface LocalApp {
  appId?: string;
  organizationId?: string;
  databaseId?: string;
  generation?: number;
  bindings?: FormBinding[];
  assets?: Script["assets"];
  /** Called in place of the health check. */
  verify?: (process: AppProcess) => Promise<void>;
  signal?: AbortSignal;
}

/** A supervisor with a data folder and local processes. */
export interface LocalSupervisor extends AsyncDisposable {
  supervisor: Supervisor;
  store: ScriptStore;
  variables: TestVariables;
  runtimeLogs: EmbeddedRuntimeLogs;
  log: LogEntry[];
  /** All processes that were launched, in order. */
  processes: LocalProcess[];
  /** The slugs of the apps that were started, in order. */
  started: string[];
  /** The ids of the apps that are always on. */
  kept: string[];
  /** Called before a process is launched. */
  beforeLaunch: (launch: WorkerdLaunch) => Promise<void>;
  /** Replaces the version at a slug, as a publication does. */
  publish(slug: string, app?: LocalApp): Promise<ScriptVersion>;
  messages(): string[];
}

/** For a store of Workers. */
const unusedUnpack = () => Promise.reject(new Error("No layer is unpacked here"));

const noNodeServer = () => Promise.reject(new Error("No Node server is started here"));

const NO_LIMITS = { maxActive: 100, drainMs: 0, idleMs: 1e9, hangMs: 1e9, residentMb: 1e9 };

export async function openLocalSupervisor(limits: Partial<SupervisorLimits> = {}): Promise<LocalSupervisor> {
  const folder = await temporaryFolder();
  const store = new ScriptStore(folder.path, unusedUnpack);
  await store.open();
  const variables = new TestVariables();
  const log: LogEntry[] = [];
  const addEntry = (fields: object, message: string) => void log.push({ ...fields, message });
  const processes: LocalProcess[] = [];
  const started: string[] = [];
  const runtimeLogs = new EmbeddedRuntimeLogs(({ slug, id }) => store.logFolder(slug, id));
  const supervisor = new Supervisor({
    urlOf: (slug) => `http://${slug}.localhost`,
    store,
    variables,
    launcher: {
      start: async (launch, signal) => {
        await local.beforeLaunch(launch);
        signal.throwIfAborted();
        const process = new LocalProcess(launch, 10_000 + processes.length);
        processes.push(process);
        return process;
      },
    },
    placement: ON_THIS_EDGE,
    nodeLauncher: { start: noNodeServer, migrate: noNodeServer },
    postgres: { open: noNodeServer },
    databaseDirectory: (id) => path.join(folder.path, "databases", id),
    runtimeLogs,
    limits: { ...NO_LIMITS, ...limits },
    log: { info: addEntry, warn: addEntry },
    onStart: (slug) => void started.push(slug),
    isKept: (appId) => local.kept.includes(appId),
  });
  let forms = 0;
  const local: LocalSupervisor = {
    supervisor,
    store,
    variables,
    runtimeLogs,
    log,
    processes,
    started,
    kept: [],
    beforeLaunch: async () => undefined,
    async publish(slug, { appId = `app-${slug}`, databaseId = `db-${slug}`, generation = 1, ...app } = {}) {
      const form = { bindings: app.bindings ?? [] };
      const scriptPath = await writeUploadForm(path.join(folder.path, `${forms++}.form`), "export default {};", form);
      const code = { runtime: "worker", scriptPath } as const;
      const organization = app.organizationId === undefined ? {} : { organizationId: app.organizationId };
      const script = { appId, ...organization, databaseId, generation, code, assets: app.assets ?? null };
      const version = await store.stage(slug, script, new AbortController().signal);
      const verify = app.verify ?? (async () => undefined);
      const makeLive = async (process: AppProcess) => {
        await verify(process);
        await store.commit(version);
      };
      await supervisor.replace(version, makeLive, app.signal ?? new AbortController().signal);
      return version;
    },
    messages: () => log.map(({ message }) => message),
    async [Symbol.asyncDispose]() {
      await supervisor.close();
      await runtimeLogs.close();
      await folder[Symbol.asyncDispose]();
    },
  };
  return local;
}
