import type { AppTrial } from "../../../domain/ports/app-trial.ts";
import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import type { IsolatedRuntime } from "../../ports/isolated-runtime.ts";

const TIMEOUT_MS = 20_000;

/** Starts apps in the isolated runtime: without network, bindings and storage. */
export class IsolatedTrial implements AppTrial {
  readonly #runtime: IsolatedRuntime;

  constructor(runtime: IsolatedRuntime) {
    this.#runtime = runtime;
  }

  async start({ scriptPath }: { scriptPath: string }, signal: AbortSignal): Promise<string | null> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const request = { scriptPath, addModules: () => [] };
      await using _app = await this.#runtime.start(request, AbortSignal.any([signal, timeout]));
      return null;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UnhealthyScript) return error.message;
      if (timeout.aborted) return `it did not start within ${TIMEOUT_MS / 1000} s`;
      throw error;
    }
  }
}
