import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import { latestCompatibilityDate } from "../workerd/miniflare-environment.ts";
import { type MiniflareWorkerOptions, WORKER_NAME } from "../workerd/worker-options.ts";
import type { WorkerdLauncher } from "../workerd/workerd-launcher.ts";
import type { StartDatabaseWorker } from "./sql-databases.ts";

/**
 * Starts scripts of the service on the database of an app. They run in a sandbox like the app, because they run its
 * SQL.
 */
export function databaseWorkerStarter(launcher: WorkerdLauncher): StartDatabaseWorker {
  return async (script, { id, directory }, signal) => {
    const folders = { storageDirectory: null, databaseDirectory: directory, assetsDirectory: null };
    try {
      return await launcher.start({ worker: databaseWorker(script, id), ...folders }, signal);
    } catch (cause) {
      // The script belongs to the service, so the app did not cause this.
      throw cause instanceof UnhealthyScript ? new Error("The database did not start", { cause }) : cause;
    }
  };
}

function databaseWorker(script: string, databaseId: string): MiniflareWorkerOptions {
  return {
    name: WORKER_NAME,
    modulesRoot: "/",
    modules: [{ type: "ESModule", path: "/index.js", contents: script }],
    compatibilityDate: latestCompatibilityDate(),
    compatibilityFlags: [],
    outboundService: { network: { allow: [] } },
    cache: false,
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    d1Databases: { DB: databaseId },
  };
}
