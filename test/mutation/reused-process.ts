import { type ChildProcess, fork } from "node:child_process";
import path from "node:path";
import type { PoolOptions, PoolRunnerInitializer, PoolWorker, TestProject, WorkerRequest } from "vitest/node";

/** Limits what a mutant can leave behind for the mutants after it: timers, caches, connections. */
const MAX_RUNS = 40;

declare module "vitest" {
  /** Provided by Stryker. */
  interface ProvidedContext {
    mode?: "dry-run" | "mutant";
    /** A static mutant changes code that runs when its module is loaded. */
    mutantActivation?: "static" | "runtime";
    /** Provided by the configuration: the path of a module from the root, or an empty string. */
    loadedLate: string;
  }
}

/**
 * Runs the tests of consecutive mutants in one process, where all modules are loaded already: starting a process that imports
 * the service takes longer than most tests. A static mutant gets a process of its own.
 */
export const reusedProcess: PoolRunnerInitializer = {
  name: "reused-process",
  createPoolWorker: (options) => new ReusedProcessWorker(options),
};

interface TestProcess {
  child: ChildProcess;
  runs: number;
}

let idle: TestProcess | null = null;

type Listener = (...values: unknown[]) => void;

/** Tells Vitest that a process has stopped, and keeps it for the next run. */
class ReusedProcessWorker implements PoolWorker {
  readonly name = "reused-process";
  readonly cacheFs = true;
  readonly #options: PoolOptions;
  readonly #isShared: boolean;
  readonly #listeners: [event: string, listener: Listener][] = [];
  #process: TestProcess | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { mode, mutantActivation } = options.project.getProvidedContext();
    this.#isShared = mode === "mutant" && mutantActivation === "runtime";
  }

  async start(): Promise<void> {
    if (this.#isShared && idle !== null) {
      this.#process = idle;
      idle = null;
    }
    this.#process ??= { child: this.#fork(), runs: 0 };
    this.#process.runs++;
  }

  async stop(): Promise<void> {
    const { child, runs } = this.#running();
    for (const [event, listener] of this.#listeners) child.off(event, listener);
    const isReusable = this.#isShared && idle === null && runs < MAX_RUNS && child.connected;
    if (isReusable) idle = this.#process;
    else child.kill("SIGKILL");
    this.#process = null;
  }

  send(message: WorkerRequest): void {
    if (message.type === "stop") {
      const stopped = { type: "stopped", __vitest_worker_response__: true };
      for (const [event, listener] of this.#listeners) if (event === "message") listener(stopped);
    } else this.#running().child.send(message);
  }

  on(event: string, listener: Listener): void {
    this.#listeners.push([event, listener]);
    this.#running().child.on(event, listener);
  }

  off(event: string, listener: Listener): void {
    this.#process?.child.off(event, listener);
  }

  deserialize(data: unknown): unknown {
    return data;
  }

  #running(): TestProcess {
    if (this.#process === null) throw new Error("The test process is not running.");
    return this.#process;
  }

  #fork(): ChildProcess {
    const { distPath, env, execArgv, project } = this.#options;
    const child = fork(path.join(distPath, "workers/forks.js"), [], {
      env,
      execArgv,
      stdio: "ignore",
      serialization: "advanced",
    });
    killOnClose(project, child);
    return child;
  }
}

function killOnClose(project: TestProject, child: ChildProcess): void {
  project.vitest.onClose(() => {
    child.kill("SIGKILL");
  });
}
