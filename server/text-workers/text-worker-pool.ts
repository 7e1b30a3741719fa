import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import type { Piscina } from "piscina";
import type { TextTaskInput, TextTaskOutput, TextWorkers } from "../../domain/ports/text-workers.ts";
import { type ErrorCode, ServiceError } from "../../domain/shared/errors.ts";
import { FairQueue } from "../../domain/shared/fair-queue.ts";
import type { TextTasks } from "./text-tasks.ts";

export interface TextWorkerLimits {
  threads: number;
  /** How much processor time one task may use, in milliseconds. */
  taskCpuMs: number;
  /** The heap of one thread, in MiB. */
  heapMb: number;
}

/**
 * The thread of a task, for the measurement of the processor time of the task. Shared memory, because a busy thread does not send
 * messages: the id of the thread, or 0 before it has begun; and the processor time of the thread by then, in milliseconds.
 */
export type TaskThread = Float64Array<SharedArrayBuffer>;

/** What a thread returns. */
export type TaskOutcome = { value: unknown } | { error: { code: ErrorCode; message: string } };

const DEFAULT_LIMITS: TextWorkerLimits = {
  threads: Math.max(2, availableParallelism() - 1),
  taskCpuMs: 60_000,
  heapMb: 512,
};

/** How many tasks wait, in all and of one organization. */
const MAX_WAITING = { waiting: 500, waitingPerKey: 100 };

/** How often the processor time of a task is measured, in milliseconds. */
const MEASURE_PAUSE_MS = 250;

/** A thread that has nothing to do ends after this time and returns its memory. In milliseconds. */
const IDLE_MS = 10_000;

/**
 * The threads have a lower priority than the thread that responds to requests. On a busy machine a task can take many times its
 * processor time, so the limit is one of processor time.
 */
const NICENESS = 10;

const PROGRAM = fileURLToPath(new URL("./text-worker-thread.ts", import.meta.url));

const TOO_EXPENSIVE = "The text takes too much time or memory to process. Shorten it, or split it into several texts.";

/** Runs tasks in a pool of worker threads, which start at the first task. */
export class TextWorkerPool implements TextWorkers<TextTasks>, AsyncDisposable {
  readonly #limits: TextWorkerLimits;
  readonly #queue: FairQueue;
  #opening: Promise<Piscina> | null = null;

  constructor(limits: Partial<TextWorkerLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    const { threads } = this.#limits;
    this.#queue = new FairQueue(
      { running: threads, runningPerKey: Math.max(1, Math.floor(threads / 2)), ...MAX_WAITING },
      "The service is processing other texts. Try again in a few seconds.",
    );
  }

  run<Name extends keyof TextTasks>(
    orgId: string | null,
    name: Name,
    input: TextTaskInput<TextTasks[Name]>,
    signal?: AbortSignal,
  ): Promise<TextTaskOutput<TextTasks[Name]>> {
    return this.#queue.run(orgId, () => this.#run(name, input, signal), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#opening)?.destroy();
  }

  async #run<Name extends keyof TextTasks>(
    name: Name,
    input: TextTaskInput<TextTasks[Name]>,
    signal: AbortSignal | undefined,
  ): Promise<TextTaskOutput<TextTasks[Name]>> {
    const pool = await (this.#opening ??= openPool(this.#limits));
    const outcome = await this.#runBounded(pool, { name, input }, signal);
    if ("error" in outcome) throw new ServiceError(outcome.error.code, outcome.error.message);
    return outcome.value as TextTaskOutput<TextTasks[Name]>;
  }

  async #runBounded(pool: Piscina, task: object, signal: AbortSignal | undefined): Promise<TaskOutcome> {
    const thread: TaskThread = new Float64Array(new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT));
    using limit = limitProcessorTime(() => findThread(pool, thread), thread, this.#limits.taskCpuMs);
    try {
      // The pool ends the thread of a task whose signal is aborted.
      const bounded = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
      return (await pool.run({ ...task, thread }, { name: "runTask", signal: bounded })) as TaskOutcome;
    } catch (cause) {
      signal?.throwIfAborted();
      const isOutOfMemory = (cause as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
      if (!limit.signal.aborted && !isOutOfMemory) throw cause;
      throw new ServiceError("invalid", TOO_EXPENSIVE, { cause });
    }
  }
}

function findThread(pool: Piscina, [id]: TaskThread): Worker | undefined {
  return pool.threads.find(({ threadId }) => threadId === id);
}

/** Aborts the signal when the thread has used more than `limitMs` of processor time for its task. */
function limitProcessorTime(
  find: () => Worker | undefined,
  thread: TaskThread,
  limitMs: number,
): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const measure = async (): Promise<void> => {
    const usage = await find()?.cpuUsage();
    if (usage !== undefined && (usage.user + usage.system) / 1000 - (thread[1] ?? 0) > limitMs) controller.abort();
  };
  // A thread that has ended cannot be measured, and has no task.
  const timer = setInterval(() => void measure().catch(() => {}), MEASURE_PAUSE_MS);
  return { signal: controller.signal, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Imports the library on first use, because a start does not need it. */
async function openPool({ threads, heapMb }: TextWorkerLimits): Promise<Piscina> {
  const { Piscina: Pool } = await import("piscina");
  return new Pool({
    filename: PROGRAM,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    niceIncrement: NICENESS,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    // No secret of the service's environment.
    env: {},
  });
}
