import type { AppAddress } from "../../../ports/app-address.ts";
import type { AppOutput, AppProcess } from "../app-process.ts";
import type { PlacementHold } from "../app-placement.ts";

/** A process that ends with its hold, and releases the hold at its end. */
export class HeldProcess implements AppProcess {
  readonly #process: AppProcess;
  readonly #hold: PlacementHold;

  constructor(process: AppProcess, hold: PlacementHold) {
    this.#process = process;
    this.#hold = hold;
    const kill = () => void process[Symbol.asyncDispose]();
    hold.lost.addEventListener("abort", kill, { once: true });
    if (hold.lost.aborted) kill();
  }

  get address(): AppAddress {
    return this.#process.address;
  }

  get output(): AppOutput {
    return this.#process.output;
  }

  get exited(): Promise<void> {
    return this.#process.exited;
  }

  hasExceededMemory(): boolean {
    return this.#process.hasExceededMemory();
  }

  usesMoreThan(residentMb: number): Promise<boolean> {
    return this.#process.usesMoreThan(residentMb);
  }

  isResponsive(timeoutMs: number): Promise<boolean> {
    return this.#process.isResponsive(timeoutMs);
  }

  async accept(): Promise<void> {
    await this.#process.accept?.();
  }

  async hasUnkeptFiles(): Promise<boolean> {
    return (await this.#process.hasUnkeptFiles?.()) ?? false;
  }

  cpuMs(): Promise<number> {
    return this.#process.cpuMs();
  }

  async shutDown(): Promise<void> {
    await this.#process.shutDown();
    await this.#hold[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
    await this.#hold[Symbol.asyncDispose]();
  }
}
