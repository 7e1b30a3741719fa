import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { toAppName } from "../../../../domain/archives/source-folder.ts";
import { type Client, type DeploymentProgress, type Input, ServiceError } from "../../../sdk/src/client.ts";
import { CliError, explainError, Interrupted, usageError } from "../cli-error.ts";
import { connect, type Context } from "../context.ts";
import { showProgress } from "../show-deployment.ts";
import { type AppState, checkAppState, readAppState, writeAppState } from "./app-state.ts";
import { formatSize, packFolder, type PackedFolder } from "./pack-folder.ts";
import { FolderChanges } from "./watch-folder.ts";

/** Everything of a deploy request but its source. */
export type AppSettings = Omit<Input<"apps", "deploy">, "repo" | "host" | "branch" | "archive" | "files">;

export interface FolderOptions {
  folder: string;
  /** Of a new app; for an app that exists, what changes. */
  settings: AppSettings;
  /** Whether to deploy a new app, also if the folder has one. */
  isNew: boolean;
  includesSecrets: boolean;
  /** Whether to wait until the app is live. */
  waits: boolean;
  /** Whether to deploy again after each change. */
  watches: boolean;
}

interface Deployed {
  app_id: string;
  slug: string;
  url: string;
  /** The number of the deployment. */
  number: number;
}

/** Deploys a folder: as a new app the first time, and from then on as the same app. */
export async function deployFolder(context: Context, options: FolderOptions): Promise<void> {
  const { output, session } = context;
  const state = options.isNew ? null : await readAppState(options.folder);
  const service = await session.url();
  checkState(state, service, options);
  if (state === null) await checkAppState(options.folder);
  const client = await connect(context, `Packing ${options.folder} …`);
  const run: FolderRun = {
    context,
    client,
    options,
    service,
    appId: state?.app_id ?? null,
    deployedId: null,
    notes: new Set(),
  };
  if (options.watches) return watchAndDeploy(run);
  const deployed = await deployOnce(run, await pack(run));
  output.value(deployed, () => deployed.url);
  if (!options.waits) output.message(`The deployment has started. Follow it with: svc apps logs -f ${deployed.slug}`);
}

interface FolderRun {
  context: Context;
  client: Client;
  options: FolderOptions;
  service: string;
  /** The app of the folder; `null` before the first deployment. */
  appId: string | null;
  /** The archive that was deployed last. */
  deployedId: string | null;
  /** What the user was told about it. */
  notes: ReadonlySet<string>;
}

/** @throws {CliError} when the options do not fit the app of the folder */
function checkState(state: AppState | null, service: string, { settings, folder }: FolderOptions): void {
  if (state === null) return;
  if (state.service !== service)
    throw usageError(
      `The app of ${folder} is at ${state.service}, and this command uses ${service}. Add --service ${state.service}, or --new for a new app.`,
    );
  if (settings.name !== undefined)
    throw usageError("--name is for a new app. Add --new, or rename the app with: svc apps update APP --name NAME");
  if (settings.variables !== undefined)
    throw usageError("Variables are set with a new app. For this one, use: svc variables set APP NAME VALUE");
}

function pack({ context: { output, signal }, options }: FolderRun): Promise<PackedFolder> {
  output.progress(`Packing ${options.folder} …`);
  return packFolder(options.folder, { includesSecrets: options.includesSecrets, signal });
}

/** Uploads the folder, starts a deployment, and waits for it, if wanted. */
async function deployOnce(run: FolderRun, packed: PackedFolder): Promise<Deployed> {
  const { context, client, options } = run;
  const { output, signal } = context;
  try {
    // While a folder is watched, only once.
    for (const note of packed.notes.filter((each) => !run.notes.has(each))) output.message(note);
    run.notes = new Set(packed.notes);
    output.progress(`Uploading ${packed.fileCount} files, ${formatSize(packed.size)} …`);
    const { id: archive } = await client.uploadArchive({ file: packed.open }, { signal });
    run.deployedId = packed.id;
    const deployed = run.appId === null ? await createApp(run, archive) : await redeploy(run, run.appId, archive);
    const verb = deployed.number === 1 ? "as" : "again as";
    output.message(`Deploying ${options.folder} ${verb} ${deployed.slug} (${packed.fileCount} files)`);
    if (options.waits) await waitFor(run, deployed);
    return deployed;
  } finally {
    await packed.remove();
  }
}

async function createApp(run: FolderRun, archive: string): Promise<Deployed> {
  const { client, context, options, service } = run;
  const name = options.settings.name ?? toAppName(path.basename(path.resolve(options.folder)));
  const app = await client.apps.deploy({ ...options.settings, name, archive }, { signal: context.signal });
  run.appId = app.app_id;
  await writeAppState(options.folder, { service, app_id: app.app_id });
  return { app_id: app.app_id, slug: app.slug, url: app.url, number: 1 };
}

async function redeploy({ client, context, options }: FolderRun, id: string, archive: string): Promise<Deployed> {
  const { signal } = context;
  const { customization, root_directory, build_network, runtime } = options.settings;
  const changes = {
    ...(root_directory !== undefined && { root_directory }),
    ...(build_network !== undefined && { build_network }),
    ...(runtime !== undefined && { runtime }),
  };
  try {
    if (Object.keys(changes).length > 0) await client.apps.update({ id, ...changes }, { signal });
    const request = { id, archive, ...(customization !== undefined && { customization }) };
    const { number } = await client.deployments.redeploy(request, { signal });
    const { slug, url } = await client.apps.get({ id }, { signal });
    return { app_id: id, slug, url, number };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
    throw new CliError(
      "The app of this folder does not exist in the organization. Deploy a new one with --new, or select another organization with: svc orgs use",
    );
  }
}

async function waitFor({ client, context }: FolderRun, { app_id: id, slug, number }: Deployed): Promise<void> {
  const { output, signal } = context;
  const onProgress = (progress: DeploymentProgress): void => showProgress(output, progress);
  try {
    await client.waitForDeployment({ id, number }, { signal, onProgress });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Interrupted(
      `Interrupted. The deployment continues. Follow it with: svc apps logs -f ${slug}, or cancel it with: svc deployments cancel ${slug} ${number}`,
    );
  }
}

/** Deploys after each change, one deployment at a time. What changes meanwhile is deployed next, in its newest state. */
async function watchAndDeploy(run: FolderRun): Promise<void> {
  const { context, options } = run;
  const { output, signal } = context;
  const changes = await FolderChanges.watch(path.resolve(options.folder), signal);
  try {
    for (;;) {
      await deployIfChanged(run);
      output.progress("Waiting for changes …");
      await changes.next();
    }
  } finally {
    await changes.close();
  }
}

/** Reports a failure, and goes on: the next change may correct it. */
async function deployIfChanged(run: FolderRun): Promise<void> {
  const { context } = run;
  const { output, session, signal } = context;
  try {
    const packed = await pack(run);
    if (packed.id === run.deployedId) return await packed.remove();
    const deployed = await deployOnce(run, packed);
    output.line(deployed.url, deployed);
  } catch (error) {
    const isFinal = run.appId === null || (error instanceof ServiceError && error.code === "unauthenticated");
    if (signal.aborted || isFinal) throw error;
    const seconds = error instanceof ServiceError && error.code === "rate_limited" ? error.retryAfterSeconds : null;
    if (seconds === null) return output.error(explainError(error, session.hasOwnToken).message);
    await waitForLimit(run, seconds);
  }
}

/** The deploy limit was reached: the newest state is deployed when it allows it. */
async function waitForLimit(run: FolderRun, seconds: number): Promise<void> {
  const { output, signal } = run.context;
  run.deployedId = null;
  output.message(`The organization has reached its deploy limit. The newest state is deployed in ${seconds} s.`);
  output.progress("Waiting for the deploy limit …");
  await sleep(seconds * 1000, undefined, { signal });
  await deployIfChanged(run);
}
