import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import { latestCompatibilityDate } from "../workerd/workerd-binary.ts";
import { type WorkerOptions, WORKER_NAME } from "../workerd/worker-options.ts";
import type { WorkerLauncher } from "../workerd/workerd-launcher.ts";
import type { StartDatabaseWorker } from "./sql-databases.ts";

/**
 * Starts scripts of the service on the database of an app. They run in a sandbox like the app, because they run its
 * SQL.
 */
export function databaseWorkerStarter(launcher: WorkerLauncher): StartDatabaseWorker {
  return async (script, { id, directory }, signal) => {
    const folders = { storageDirectory: null, databaseDirectory: directory, assetsDirectory: null };
    try {
      const started = await launcher.start({ worker: databaseWorker(script, id), databaseId: id, ...folders }, signal);
      return { port: started.port, [Symbol.asyncDispose]: () => started.shutDown() };
    } catch (cause) {
      // The script belongs to the service, so the app did not cause this.
      throw cause instanceof UnhealthyScript ? new Error("The database did not start", { cause }) : cause;
    }
  };
}

function databaseWorker(script: string, databaseId: string): WorkerOptions {
  return { ...isolatedWorker(script), d1Databases: { DB: databaseId } };
}

/** A worker that runs a module of the service, without bindings and network. */
export function isolatedWorker(script: string): WorkerOptions {
  return {
    name: WORKER_NAME,
    modules: [{ type: "ESModule", path: "/index.js", contents: script }],
    compatibilityDate: latestCompatibilityDate(),
    compatibilityFlags: [],
    outboundService: { network: { allow: [] } },
  };
}
