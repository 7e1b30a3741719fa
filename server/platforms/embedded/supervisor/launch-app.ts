import type { EmbeddedRuntimeLogs } from "../runtime-logs/embedded-runtime-logs.ts";
import type { WorkerdLauncher } from "../workerd/workerd-launcher.ts";
import type { WorkerdProcess } from "../workerd/workerd-process.ts";
import type { PreparedApp } from "./prepared-app.ts";

export interface LaunchDeps {
  launcher: WorkerdLauncher;
  /** Returns the folder of an app's SQL database. */
  databaseDirectory: (databaseId: string) => string;
  runtimeLogs: EmbeddedRuntimeLogs;
}

/** Starts a process for an app, with its storage and its runtime log. The lock of its database must be held. */
export async function launchApp(
  { launcher, databaseDirectory, runtimeLogs }: LaunchDeps,
  { version, worker, masks }: PreparedApp,
  signal: AbortSignal,
): Promise<WorkerdProcess> {
  const { appId, slug, storageDirectory, databaseId, assets } = version;
  const folders = {
    storageDirectory,
    databaseDirectory: databaseDirectory(databaseId),
    assetsDirectory: assets?.directory ?? null,
  };
  const { sink, close } = await runtimeLogs.open({ id: appId, slug }, masks);
  try {
    const process = await launcher.start({ worker, masks, ...folders, records: sink }, signal);
    void process.exited.then(close);
    return process;
  } catch (error) {
    close();
    throw error;
  }
}
