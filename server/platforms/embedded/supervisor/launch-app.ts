import { readdir } from "node:fs/promises";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { AppProcess } from "../app-process.ts";
import { type NodeLauncher, toLaunch } from "../node-server/node-launcher.ts";
import type { RecordSink } from "../runtime-logs/record-sink.ts";
import { dataDirectory, type ScriptVersion } from "../script-version.ts";
import type { EmbeddedRuntimeLogs } from "../runtime-logs/embedded-runtime-logs.ts";
import { usesStorage } from "../../shared/worker-bindings.ts";
import type { WorkerLauncher } from "../workerd/workerd-launcher.ts";
import type { AppPlacement } from "../app-placement.ts";
import { HeldProcess } from "./held-process.ts";
import type { PreparedApp } from "./prepared-app.ts";
import type { RunningApp } from "./running-app.ts";

export interface LaunchDeps {
  launcher: WorkerLauncher;
  nodeLauncher: Pick<NodeLauncher, "start" | "migrate">;
  /** Returns the public URL of an app. */
  urlOf: (slug: string) => string;
  /** Returns the folder of an app's SQL database. */
  databaseDirectory: (databaseId: string) => string;
  runtimeLogs: EmbeddedRuntimeLogs;
  placement: AppPlacement;
}

/**
 * Starts a version beside the app that it will replace. Two processes must not open the same storage, so a Worker that
 * uses storage is only tried with temporary storage and stopped again. A Node server is not started if the app has stored data.
 *
 * @param replaced - the app that it will replace; without one, nothing is started
 * @returns the process of a version that uses no storage; otherwise `null`
 */
export async function launchBeside(
  deps: LaunchDeps,
  prepared: PreparedApp,
  { replaced, signal }: { replaced: RunningApp | undefined; signal: AbortSignal },
): Promise<AppProcess | null> {
  if (replaced === undefined) return null;
  const { version, code, masks } = prepared;
  if (code.runtime === "node") {
    const hasStored = (await hasData(version)) || (await replaced.process.hasUnkeptFiles?.()) === true;
    return hasStored ? null : launchApp(deps, prepared, signal);
  }
  const { worker } = code;
  if (!usesStorage(worker)) return launchApp(deps, prepared, signal);
  const assetsDirectory = version.assets?.directory ?? null;
  const launch = { worker, masks, storageDirectory: null, databaseDirectory: null, assetsDirectory };
  await using _ = await deps.launcher.start(launch, signal);
  return null;
}

/**
 * Starts a version after the app that it replaces has stopped. What `launchBeside` has started is used, unless the app has stored data
 * meanwhile. The lock of its database must be held if the version uses storage.
 */
export async function launchAfter(
  deps: LaunchDeps,
  prepared: PreparedApp,
  { beside, signal }: { beside: AppProcess | null; signal: AbortSignal },
): Promise<AppProcess> {
  const { version, code } = prepared;
  if (beside !== null && !(code.runtime === "node" && (await hasData(version)))) return beside;
  await beside?.[Symbol.asyncDispose]();
  return launchApp(deps, prepared, signal);
}

async function hasData(version: ScriptVersion): Promise<boolean> {
  return ((await readdir(dataDirectory(version)).catch(nullIfMissing)) ?? []).length > 0;
}

/**
 * Starts a process for an app, with its storage and its runtime log. The lock of its database must be held if the version
 * uses storage.
 *
 * @throws {RunsElsewhere} when another edge runs the app
 */
export async function launchApp(deps: LaunchDeps, prepared: PreparedApp, signal: AbortSignal): Promise<AppProcess> {
  const { version, masks } = prepared;
  await using starting = new AsyncDisposableStack();
  const hold = starting.use(await deps.placement.hold(version, { takesOver: false, signal }));
  const { sink, close } = await deps.runtimeLogs.open({ id: version.appId, slug: version.slug }, masks);
  starting.defer(close);
  const notice = deps.placement.notice(version);
  if (notice !== null) sink.print([Date.now(), "info", null, notice]);
  const whileHeld = hold === null ? signal : AbortSignal.any([signal, hold.lost]);
  const process = await startCode(deps, prepared, { records: sink, signal: whileHeld });
  void process.exited.then(close);
  starting.move();
  return hold === null ? process : new HeldProcess(process, hold);
}

async function startCode(
  deps: LaunchDeps,
  { version, code, masks }: PreparedApp,
  { records, signal }: { records: RecordSink; signal: AbortSignal },
): Promise<AppProcess> {
  const { storageDirectory, databaseId, assets } = version;
  if (code.runtime === "worker") {
    const databaseDirectory = deps.databaseDirectory(databaseId);
    const folders = { storageDirectory, databaseDirectory, assetsDirectory: assets?.directory ?? null };
    return deps.launcher.start({ worker: code.worker, databaseId, masks, ...folders, records }, signal);
  }
  const { server, env, database, isToMigrate, isNew } = code;
  const data = { dataDirectory: dataDirectory(version), database, hasNetwork: true };
  const launch = { url: deps.urlOf(version.slug), ...toLaunch(server), ...data, env, masks, records, isNew };
  if (isToMigrate) await deps.nodeLauncher.migrate(launch, signal);
  return deps.nodeLauncher.start(launch, signal);
}
