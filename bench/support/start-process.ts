import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Call, Commands, Reply } from "./serve-commands.ts";

/** A process that does what it is asked to, one of those in `bench/processes`. */
export interface Partner<C extends Commands> extends AsyncDisposable {
  pid: number;
  /** @throws what the process says went wrong, when it ends, or when the run is aborted */
  ask<N extends keyof C & string>(name: N, ...input: Parameters<C[N]>): Promise<Awaited<ReturnType<C[N]>>>;
}

/** How long a process may take to clear up after itself. */
const CLOSE_MS = 30_000;

/**
 * Starts one of the programs in `bench/processes` and waits until it is ready. What is measured runs in a process of
 * its own, so that neither the measuring nor the other side of a comparison shares its event loop and its heap.
 */
export async function startProcess<C extends Commands>(
  program: URL,
  options: object,
  signal: AbortSignal,
): Promise<Partner<C>> {
  signal.throwIfAborted();
  const child = fork(program, [JSON.stringify(options)], {
    // Memory is looked at after a collection, or it would say more about the collector than about the program.
    execArgv: ["--expose-gc"],
    serialization: "advanced",
    // It logs as it does in production, to nobody.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const replies = new Replies(child, signal);
  let calls = 0;
  try {
    await replies.to(calls++);
  } catch (error) {
    await close(child);
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    async ask(name, ...input) {
      const reply = replies.to(calls);
      child.send({ number: calls++, name, input } satisfies Call);
      return (await reply) as never;
    },
    [Symbol.asyncDispose]: () => close(child),
  };
}

/** Matches replies with the calls they belong to. */
class Replies {
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #failure: Error | null = null;

  constructor(child: ChildProcess, signal: AbortSignal) {
    child.on("message", (reply: Reply) => this.#settle(reply));
    child.once("exit", (code) => this.#failAll(new Error(`A process of the benchmark ended with ${code}`)));
    signal.addEventListener("abort", () => this.#failAll(signal.reason as Error), { once: true });
  }

  to(number: number): Promise<unknown> {
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
  const ended = once(child, "exit");
  if (child.connected) child.disconnect();
  const impatience = setTimeout(() => child.kill("SIGKILL"), CLOSE_MS);
  await ended;
  clearTimeout(impatience);
}
