import { setTimeout as delay } from "node:timers/promises";
import type { Publication, Script, ServerError } from "../../../domain/ports/edge-platform.ts";
import type { LoggedApp, RuntimeLogRecord, RuntimeLogs } from "../../../domain/ports/runtime-logs.ts";
import { EDGE_METHODS, type EdgePortName, type EdgePorts, FOLLOW_PATH, PUBLISH_PATH } from "./edge-methods.ts";
import type { EdgeClient } from "./edge-client.ts";
import { decodeError, type EncodedError } from "./edge-errors.ts";
import { packPublication } from "./publication-archive.ts";

interface RemoteEdgeOptions {
  client: EdgeClient;
  /** The public URL of a slug. */
  urlOf: (slug: string) => string;
  log: { warn(fields: object, message: string): void };
}

const RECONNECT_MS = 1000;

/** The ports of the edge platform of another process. */
export function openRemoteEdge({ client, urlOf, log }: RemoteEdgeOptions): EdgePorts {
  const platform = portOf(client, "platform");
  const publish = async (slug: string, script: Script, signal: AbortSignal) => {
    const published = await client.send(PUBLISH_PATH, () => packPublication(slug, script), signal);
    const { problem, ...probe } = published as Omit<Publication, "url" | "problem"> & { problem: EncodedError | null };
    return { url: urlOf(slug), problem: problem === null ? null : (decodeError(problem) as ServerError), ...probe };
  };
  const { set } = portOf(client, "alwaysOn") as unknown as { set(apps: unknown): Promise<void> };
  return {
    platform: { ...platform, publish, urlOf },
    databases: portOf(client, "databases"),
    appDatabases: portOf(client, "appDatabases"),
    appEntries: portOf(client, "appEntries"),
    authEntries: portOf(client, "authEntries"),
    storage: portOf(client, "storage"),
    // The worker sets them again every few seconds.
    alwaysOn: { set: (apps) => void set(apps).catch((err: unknown) => log.warn({ err }, NOT_SET)) },
    runtimeLogs: new RemoteRuntimeLogs(client, portOf(client, "runtimeLogs")),
  };
}

const NOT_SET = "the apps that are always on could not be sent to the edge; they are sent again later";

function portOf<Name extends EdgePortName>(client: EdgeClient, name: Name): EdgePorts[Name] {
  const methods = EDGE_METHODS[name].map((method) => [
    method,
    (...args: unknown[]) => client.call(`/${name}/${method}`, args),
  ]);
  return Object.fromEntries(methods) as EdgePorts[Name];
}

/** Reads and follows the logs of apps on the edge. */
class RemoteRuntimeLogs implements RuntimeLogs {
  readonly #client: EdgeClient;
  readonly #port: Pick<RuntimeLogs, "read">;

  constructor(client: EdgeClient, port: Pick<RuntimeLogs, "read">) {
    this.#client = client;
    this.#port = port;
  }

  read(app: LoggedApp): Promise<RuntimeLogRecord[]> {
    return this.#port.read(app);
  }

  listen(app: LoggedApp, listener: (records: readonly RuntimeLogRecord[]) => void): () => void {
    const stop = new AbortController();
    void this.#follow({ id: app.id, slug: app.slug }, listener, stop.signal);
    return () => stop.abort();
  }

  async #follow(
    app: LoggedApp,
    listener: (records: readonly RuntimeLogRecord[]) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let last: number | null = null;
    const pass = (records: readonly RuntimeLogRecord[]): void => {
      const fresh = records.filter(({ id }) => last === null || id > last);
      last = fresh.at(-1)?.id ?? last;
      if (fresh.length > 0 && !signal.aborted) listener(fresh);
    };
    while (!signal.aborted) {
      try {
        const lines = await this.#client.openLines(FOLLOW_PATH, app, signal);
        // What was printed before the edge began to send.
        pass(await this.#port.read(app));
        for await (const line of lines) if (line !== "") pass(JSON.parse(line));
      } catch {
        // The connection was lost, or the listener has gone.
      }
      if (signal.aborted) return;
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
