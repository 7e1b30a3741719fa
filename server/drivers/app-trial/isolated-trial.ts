import { randomUUID } from "node:crypto";
import http from "node:http";
import type { AppTrial, TrialStart } from "../../../domain/ports/app-trial.ts";
import type { Bundle } from "../../../domain/ports/bundler.ts";
import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { MigrationFailed, type SqlDatabases, TRIAL_PREFIX } from "../../../domain/ports/sql-databases.ts";
import { ISOLATED_URL, ownRequestHeaders } from "../../http/edge/forwarded-headers.ts";
import type { AppAddress } from "../../ports/app-address.ts";
import type { IsolatedRuntime } from "../../ports/isolated-runtime.ts";

/** Longer than the limits of the launchers, whose errors say why an app does not start. A server may first migrate its database. */
const START_TIMEOUT_MS = { worker: 90_000, node: 150_000 } as const;
const RESPONSE_TIMEOUT_MS = 10_000;

/** Starts apps in the isolated runtime, each with a database of its own. */
export class IsolatedTrial implements AppTrial {
  readonly #runtime: IsolatedRuntime;
  readonly #databases: SqlDatabases;

  constructor(runtime: IsolatedRuntime, databases: SqlDatabases) {
    this.#runtime = runtime;
    this.#databases = databases;
  }

  async start(bundle: Bundle, variables: Readonly<Record<string, string>>, signal: AbortSignal): Promise<TrialStart> {
    const databaseId = `${TRIAL_PREFIX}${randomUUID()}`;
    const timeoutMs = START_TIMEOUT_MS[bundle.code.runtime];
    const timeout = AbortSignal.timeout(timeoutMs);
    await this.#databases.create(databaseId);
    try {
      await this.#databases.migrate(databaseId, bundle.migrations, signal);
      const { code, assets } = bundle;
      const request = { code, assets, databaseId, variables };
      await using app = await this.#runtime.startTrial(request, AbortSignal.any([signal, timeout]));
      return { problem: null, status: await requestStatus(app.address, signal), printed: [] };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UnhealthyScript) return failed(error.message, error.printed);
      if (error instanceof MigrationFailed) return failed(error.message);
      if (timeout.aborted) return failed(`it did not start within ${timeoutMs / 1000} s`);
      throw error;
    } finally {
      await this.#databases.remove(databaseId);
    }
  }
}

function failed(problem: string, printed: readonly string[] = []): TrialStart {
  return { problem, status: null, printed };
}

/** Sends a request without a browser's or a client's manners: any response counts. */
function requestStatus(address: AppAddress, signal: AbortSignal): Promise<number | null> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]);
  const headers = ownRequestHeaders(ISOLATED_URL);
  return new Promise((resolve) => {
    http
      .get({ ...address, path: "/", headers, agent: false, signal: bounded }, (response) => {
        response.destroy();
        resolve(response.statusCode ?? null);
      })
      .on("error", () => resolve(null));
  });
}
