import type { Publication, Script, ServerError } from "../../../domain/ports/edge-platform.ts";
import { EDGE_METHODS, type EdgePortName, type EdgePorts, PUBLISH_PATH } from "./edge-methods.ts";
import type { EdgeClient } from "./edge-client.ts";
import { decodeError, type EncodedError } from "./edge-errors.ts";
import { packPublication } from "../shared/publication-archive.ts";
import { RemoteAppData } from "./remote-app-data.ts";
import { RemoteAppStorage } from "./remote-app-storage.ts";
import { RemoteRuntimeLogs } from "./remote-runtime-logs.ts";

interface RemoteEdgeOptions {
  client: EdgeClient;
  /** The public URL of a slug. */
  urlOf: (slug: string) => string;
  log: { warn(fields: object, message: string): void };
}

/** The ports of the edge platform of other processes. */
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
    appData: new RemoteAppData(client),
    appEntries: portOf(client, "appEntries"),
    authEntries: portOf(client, "authEntries"),
    storage: new RemoteAppStorage(client, portOf(client, "storage")),
    // The worker sets them again every few seconds, also on an edge that was left out.
    alwaysOn: { set: (apps) => void set(apps).catch((err: unknown) => log.warn({ err }, NOT_SET)) },
    runtimeLogs: new RemoteRuntimeLogs(client),
  };
}

const NOT_SET = "the apps that are always on could not be sent to the edge; they are sent again later";

/** Methods whose results are merged are left out: a class has them. */
function portOf<Name extends EdgePortName>(client: EdgeClient, name: Name): EdgePorts[Name] {
  const methods = Object.entries(EDGE_METHODS[name]).filter(([, scope]) => scope !== "merged");
  const calls = methods.map(([method, scope]) => {
    const path = `/${name}/${method}`;
    const callAll = async (...args: unknown[]): Promise<void> => void (await client.callAll(path, args));
    return [method, scope === "all" ? callAll : (...args: unknown[]) => client.call(path, args)];
  });
  return Object.fromEntries(calls) as EdgePorts[Name];
}
