import type { AppAddress } from "../../ports/app-address.ts";

/** What a process printed, without the secrets of the app. */
export interface AppOutput {
  /** The message of the last error that the app itself reported, without its stack; `null` if there is none. */
  lastError(): string | null;
  /** The first lines that the app itself printed. */
  firstLines(): string[];
}

/** One running app: a workerd, or the processes of a Node server. It is never restarted; a new one replaces it. */
export interface AppProcess {
  /** Where the app listens for HTTP. */
  readonly address: AppAddress;
  readonly output: AppOutput;
  /** Resolves when the process has exited, for any reason. */
  readonly exited: Promise<void>;
  /** Whether the process has ended because it used too much memory. */
  hasExceededMemory(): boolean;
  /** Whether the process uses more resident memory than this, in MiB, and nothing else limits it. */
  usesMoreThan(residentMb: number): Promise<boolean>;
  /** Whether the event loop responds in time, without running code of the app. */
  isResponsive(timeoutMs: number): Promise<boolean>;
  /** Called when the process serves its app from now on. What others have written beside their code is not kept. Workers write nothing there. */
  accept?(): Promise<void>;
  /** Whether the process has written files that become data of the app only when it ends. Workers write none. */
  hasUnkeptFiles?(): Promise<boolean>;
  /** The CPU time that the process has used, in milliseconds. It grows while code of the app runs, and not while it waits. */
  cpuMs(): Promise<number>;
  /** Lets the process finish its work for a limited time if it can, and then does the same as `Symbol.asyncDispose`. */
  shutDown(): Promise<void>;
  /** Kills the process. When this returns, another process may open its storage. */
  [Symbol.asyncDispose](): Promise<void>;
}
