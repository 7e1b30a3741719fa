import { SlowStart } from "../../../../domain/ports/edge-platform.ts";
import type { EmbeddedRuntimeLogs } from "../runtime-logs/embedded-runtime-logs.ts";
import { usesStorage } from "../workerd/worker-bindings.ts";
import type { WorkerdLauncher } from "../workerd/workerd-launcher.ts";
import type { WorkerdProcess } from "../workerd/workerd-process.ts";
import type { PreparedApp } from "./prepared-app.ts";

export interface LaunchDeps {
  launcher: Pick<WorkerdLauncher, "start">;
  /** Returns the folder of an app's SQL database. */
  databaseDirectory: (databaseId: string) => string;
  runtimeLogs: EmbeddedRuntimeLogs;
}

/**
 * Starts a version beside the process that it will replace. Two processes must not open the same storage, so a version that
 * uses storage is only tried with temporary storage and stopped again.
 *
 * @returns the process of a version that uses no storage; otherwise `null`
 */
export async function launchBeside(
  deps: LaunchDeps,
  prepared: PreparedApp,
  signal: AbortSignal,
): Promise<WorkerdProcess | null> {
  const { version, worker, masks } = prepared;
  if (!usesStorage(worker)) return launchPatiently(deps, prepared, signal);
  const assetsDirectory = version.assets?.directory ?? null;
  const launch = { worker, masks, storageDirectory: null, databaseDirectory: null, assetsDirectory };
  await using _ = await startAgainIfSlow((patience) => deps.launcher.start({ ...launch, patience }, signal));
  return null;
}

/** How many times as long as usual the second start of a slow script may take. */
const PATIENCE = 3;

/** Starts a script again if it did not start in time, because the machine may have been busy. */
async function startAgainIfSlow<T>(start: (patience: number) => Promise<T>): Promise<T> {
  try {
    return await start(1);
  } catch (error) {
    if (!(error instanceof SlowStart)) throw error;
    return start(PATIENCE);
  }
}

/** Starts a version that is not live yet, as `launchApp` does. A slow start is tried again. */
export function launchPatiently(deps: LaunchDeps, prepared: PreparedApp, signal: AbortSignal): Promise<WorkerdProcess> {
  return startAgainIfSlow((patience) => launchApp(deps, prepared, signal, patience));
}

/**
 * Starts a process for an app, with its storage and its runtime log. The lock of its database must be held if the version
 * uses storage.
 */
export async function launchApp(
  deps: LaunchDeps,
  { version, worker, masks }: PreparedApp,
  signal: AbortSignal,
  patience = 1,
): Promise<WorkerdProcess> {
  const { storageDirectory, databaseId, assets } = version;
  const databaseDirectory = deps.databaseDirectory(databaseId);
  const folders = { storageDirectory, databaseDirectory, assetsDirectory: assets?.directory ?? null };
  const { sink, close } = await deps.runtimeLogs.open({ id: version.appId, slug: version.slug }, masks);
  try {
    const process = await deps.launcher.start({ worker, masks, ...folders, records: sink, patience }, signal);
    void process.exited.then(close);
    return process;
  } catch (error) {
    close();
    throw error;
  }
}
