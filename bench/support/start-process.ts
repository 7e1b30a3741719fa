import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Call, Commands, Reply } from "./serve-commands.ts";

/** A child process that serves commands: one of the programs in `bench/processes`. */
export interface CommandProcess<C extends Commands> extends AsyncDisposable {
  pid: number;
  /** @throws the error of the command, or an error when the process exits or the run is aborted */
  call<N extends keyof C & string>(name: N, ...args: Parameters<C[N]>): Promise<Awaited<ReturnType<C[N]>>>;
}

/** How long a process may take to close. */
const CLOSE_MS = 30_000;

/**
 * Starts one of the programs in `bench/processes` and waits until it is ready. Each server and each load generator runs
 * in a process of its own, so that they share neither an event loop nor a heap.
 */
export async function startProcess<C extends Commands>(
  program: URL,
  options: object,
  signal: AbortSignal,
): Promise<CommandProcess<C>> {
  signal.throwIfAborted();
  const child = fork(program, [JSON.stringify(options)], {
    // Memory is measured after a garbage collection. Otherwise the result depends on when the collector ran.
    execArgv: ["--expose-gc"],
    serialization: "advanced",
    // The process writes its log as in production, but the log is discarded.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const replies = new ReplyQueue(child, signal);
  let calls = 0;
  try {
    await replies.waitFor(calls++);
  } catch (error) {
    await close(child);
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    async call(name, ...args) {
      const reply = replies.waitFor(calls);
      child.send({ number: calls++, name, args } satisfies Call);
      return (await reply) as never;
    },
    [Symbol.asyncDispose]: () => close(child),
  };
}

/** Matches replies to calls by their numbers. */
class ReplyQueue {
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #failure: Error | null = null;

  constructor(child: ChildProcess, signal: AbortSignal) {
    child.on("message", (reply: Reply) => this.#settle(reply));
    child.once("exit", (code) => this.#failAll(new Error(`A process of the benchmark exited with code ${code}.`)));
    signal.addEventListener("abort", () => this.#failAll(signal.reason as Error), { once: true });
  }

  waitFor(number: number): Promise<unknown> {
    if (this.#failure) throw this.#failure;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(number, waiting);
    return waiting.promise;
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.number);
    this.#waiting.delete(reply.number);
    if ("error" in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.value);
  }

  #failAll(failure: Error): void {
    this.#failure ??= failure;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
  }
}

async function close(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  if (child.connected) child.disconnect();
  const timeout = setTimeout(() => child.kill("SIGKILL"), CLOSE_MS);
  await exited;
  clearTimeout(timeout);
}
