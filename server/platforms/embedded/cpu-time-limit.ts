/** A process that waits, for a busy disk or CPU, has this many times the limit. */
const WAITING_FACTOR = 6;

interface Excess {
  of: "cpu" | "waiting";
  limitMs: number;
}

/** A limit on the CPU time that a process uses from now on, which an endless loop reaches and a process on a busy machine does not. */
export class CpuTimeLimit {
  readonly #limitMs: number;
  readonly #startCpuMs: number;
  readonly #startMs = performance.now();

  /** @param cpuMs - what the process has used until now */
  constructor(limitMs: number, cpuMs: number) {
    this.#limitMs = limitMs;
    this.#startCpuMs = cpuMs;
  }

  /**
   * @param cpuMs - what the process has used until now
   * @returns which limit the process exceeds, or `null`
   */
  exceededBy(cpuMs: number): Excess | null {
    const [usedMs, passedMs] = [cpuMs - this.#startCpuMs, performance.now() - this.#startMs];
    if (usedMs >= this.#limitMs) return { of: "cpu", limitMs: this.#limitMs };
    const waitingLimitMs = this.#limitMs * WAITING_FACTOR;
    return passedMs >= waitingLimitMs ? { of: "waiting", limitMs: waitingLimitMs } : null;
  }
}
