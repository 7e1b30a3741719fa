import type { AlwaysOnApps } from "../../../domain/ports/always-on-apps.ts";
import type { AppDatabases } from "../../../domain/ports/app-databases.ts";
import type { AppEntries } from "../../../domain/ports/app-entries.ts";
import type { AppStorage } from "../../../domain/ports/app-storage.ts";
import type { AuthEntries } from "../../../domain/ports/auth-entries.ts";
import type { EdgePlatform } from "../../../domain/ports/edge-platform.ts";
import type { RuntimeLogs } from "../../../domain/ports/runtime-logs.ts";
import type { SqlDatabases } from "../../../domain/ports/sql-databases.ts";

/** The ports of an edge platform that another process can use. */
export interface EdgePorts {
  platform: EdgePlatform;
  databases: SqlDatabases;
  appDatabases: AppDatabases;
  appEntries: AppEntries;
  authEntries: AuthEntries;
  storage: AppStorage;
  alwaysOn: AlwaysOnApps;
  runtimeLogs: RuntimeLogs;
}

export type EdgePortName = keyof EdgePorts;

/**
 * The methods that are called with a JSON array of arguments. Each of them is safe to repeat. An `AbortSignal` is the last
 * argument, and is not sent: the end of the connection aborts it.
 */
export const EDGE_METHODS = {
  platform: ["unpublish", "restart", "liveGeneration", "list"],
  databases: ["create", "migrate", "remove", "list"],
  appDatabases: ["describe", "query"],
  appEntries: ["listStores", "list", "read"],
  authEntries: ["put", "get", "remove", "list"],
  storage: ["listChanged", "measure", "restrict"],
  alwaysOn: ["set"],
  runtimeLogs: ["read"],
} as const satisfies { [Name in EdgePortName]: readonly (keyof EdgePorts[Name])[] };

/** Paths of the requests that are not calls of methods. */
export const PUBLISH_PATH = "/publish";
export const FOLLOW_PATH = "/follow";
export const INSTALLATION_PATH = "/installation";
