import type { AlwaysOnApps } from "../../../domain/ports/always-on-apps.ts";
import type { AppData } from "../../../domain/ports/app-data.ts";
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
  appData: AppData;
  appEntries: AppEntries;
  authEntries: AuthEntries;
  storage: AppStorage;
  alwaysOn: AlwaysOnApps;
  runtimeLogs: RuntimeLogs;
}

/** How many edges an installation can have: the ids of merged log records have room for as many. */
export const MAX_EDGES = 16;

export type EdgePortName = keyof EdgePorts;

/**
 * Which edges a call goes to, if there are several:
 *
 * - `any`: one of them. What it changes is stored where all edges find it.
 * - `all`: every edge, because each may run a process of the app. The call fails if it fails on one of them. An edge that cannot be
 *   reached for 3 seconds is left out: it reads the newest state when it starts.
 * - `merged`: every edge that can be reached now, and the results are merged.
 */
export type EdgeScope = "any" | "all" | "merged";

/**
 * The methods that are called with a JSON array of arguments. Each of them is safe to repeat, also on another edge. An `AbortSignal`
 * is the last argument, and is not sent: the end of the connection aborts it.
 */
export const EDGE_METHODS = {
  platform: { unpublish: "any", restart: "all", liveGeneration: "any", list: "any" },
  databases: { create: "any", migrate: "any", remove: "any", list: "any" },
  appDatabases: { describe: "any", query: "any" },
  // Its files are sent by requests of their own.
  appData: {},
  appEntries: { listStores: "any", list: "any", read: "any" },
  authEntries: { put: "any", get: "any", remove: "any", list: "any" },
  // An app is measured by the edges that listed it.
  storage: { listChanged: "merged", measure: "merged", restrict: "any" },
  alwaysOn: { set: "all" },
  runtimeLogs: { read: "merged" },
} as const satisfies { [Name in EdgePortName]: Partial<Record<keyof EdgePorts[Name], EdgeScope>> };

/** Paths of the requests that are not calls of methods. */
export const PUBLISH_PATH = "/publish";
export const COPY_PATH = "/copy-data";
export const RESTORE_PATH = "/restore-data";
export const FOLLOW_PATH = "/follow";
export const INSTALLATION_PATH = "/installation";
