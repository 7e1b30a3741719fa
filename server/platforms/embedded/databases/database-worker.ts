import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import { latestCompatibilityDate } from "../workerd/miniflare-environment.ts";
import { WORKER_NAME, type WorkerOptions } from "../workerd/worker-options.ts";
import type { WorkerdLauncher } from "../workerd/workerd-launcher.ts";
import type { StartDatabaseWorker } from "./sql-databases.ts";

/** Starts workers of ours on an app's database, in a sandbox like the app's own: the SQL they run is the app's. */
export function databaseWorkers(launcher: WorkerdLauncher): StartDatabaseWorker {
  return async (script, { id, directory }, signal) => {
    const folders = { storageDirectory: null, databaseDirectory: directory, assetsDirectory: null };
    try {
      return await launcher.start({ worker: databaseWorker(script, id), ...folders }, signal);
    } catch (cause) {
      // The script is ours, so this is no verdict on the app.
      throw cause instanceof UnhealthyScript ? new Error("The database did not start", { cause }) : cause;
    }
  };
}

function databaseWorker(script: string, databaseId: string): WorkerOptions {
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
