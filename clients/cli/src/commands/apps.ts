import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { type Client, ServiceError } from "../../../sdk/src/client.ts";
import { CliError, usageError } from "../cli-error.ts";
import { confirm, connect, type Context } from "../context.ts";
import { openBrowser } from "../open-browser.ts";
import { defineMoveCommands } from "./move-app.ts";
import { resolveAppId } from "../resolve-app.ts";

interface LogOptions {
  follow?: boolean;
  runtime?: boolean;
  level?: "debug" | "info" | "warn" | "error";
  since?: string;
}

const APP = "the slug, the name or the id of the app";
/** How often a deletion is repeated until every resource is removed, and the wait before it, in milliseconds. */
const TEARDOWN_ATTEMPTS = 30;
const TEARDOWN_WAIT_MS = 1_000;

/** Adds the commands of apps that do more than call one procedure. */
export function defineAppCommands(apps: Command, context: () => Context): void {
  apps
    .command("delete")
    .summary("Delete an app")
    .description("Deletes an app with its script, database, files and logs, and waits until all of them are removed.")
    .argument("<app>", APP)
    .option("-y, --yes", "do not ask before it is deleted")
    .action((app: string, options: { yes?: boolean }) => deleteApp(context(), app, options.yes === true));
  apps
    .command("logs")
    .summary("Show a build log, or what an app has printed")
    .argument("<app>", APP)
    .option("-f, --follow", "wait for further lines")
    .option("--runtime", "what the app has printed, instead of its newest build log")
    .option("--level <level>", "only messages of this level or a higher one, with --runtime")
    .option("--since <time>", "only messages at this time or later, with --runtime")
    .action((app: string, options: LogOptions) => showLogs(context(), app, options));
  apps
    .command("diff")
    .summary("Show what the app builder agent changed in the source")
    .argument("<app>", APP)
    .option("--deployment <number>", "the number of a deployment; by default the newest one")
    .action((app: string, options: { deployment?: string }) => showChanges(context(), app, options.deployment));
  defineMoveCommands(apps, context);
  apps
    .command("open")
    .summary("Open an app in a browser")
    .argument("<app>", APP)
    .action((app: string) => openApp(context(), app));
}

async function deleteApp(context: Context, app: string, isConfirmed: boolean): Promise<void> {
  const { output, signal } = context;
  const client = await connect(context, `Reading ${app} …`);
  const id = await resolveAppId(client, app, signal);
  const { slug } = await client.apps.get({ id }, { signal });
  await confirm(context, `Delete the app ${slug} with all its data?`, isConfirmed);
  output.progress(`Deleting ${slug} …`);
  output.value(await deleteCompletely(client, id, signal), () => "");
  output.message(`Deleted ${slug}.`);
}

/** The service continues a teardown that it could not finish. */
async function deleteCompletely(client: Client, id: string, signal: AbortSignal): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.apps.delete({ id }, { signal });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // An earlier attempt has deleted the app meanwhile.
      if (error.code === "not_found" && attempt > 1) return { status: "deleted" };
      if (error.code !== "teardown_pending" || attempt === TEARDOWN_ATTEMPTS) throw error;
    }
    await sleep(TEARDOWN_WAIT_MS, undefined, { signal });
  }
}

async function showChanges(context: Context, app: string, given: string | undefined): Promise<void> {
  const { output, signal } = context;
  if (given !== undefined && !/^[1-9]\d{0,8}$/.test(given))
    throw usageError("--deployment must be a number, such as 3.");
  const client = await connect(context, `Reading ${app} …`);
  const id = await resolveAppId(client, app, signal);
  const newest = async (): Promise<number> =>
    (await client.deployments.list({ id, limit: 1 }, { signal })).deployments[0]?.number ?? 1;
  const number = given === undefined ? await newest() : Number(given);
  const changes = await client.deployments.changes({ id, number }, { signal });
  output.value(changes, () => changes.patch.replace(/\n$/, ""));
  if (changes.summary !== null) output.message(`The app builder agent says: ${changes.summary}`);
}

async function showLogs(context: Context, app: string, options: LogOptions): Promise<void> {
  const { signal } = context;
  const client = await connect(context, `Reading the log of ${app} …`);
  const id = await resolveAppId(client, app, signal);
  if (options.runtime === true) return showRuntimeLog(client, context, id, options);
  if (options.follow === true) return followBuildLog(client, context, id);
  const log = await client.apps.logs({ id }, { signal });
  context.output.value(log, () => (log.logs ?? "").replace(/\n$/, ""));
  if (log.logs === null) context.output.message(`There is no log yet. The status is ${log.status}.`);
}

async function followBuildLog(client: Client, { output, signal }: Context, id: string): Promise<void> {
  output.progress("Waiting for lines …");
  for await (const event of client.followBuildLog({ id }, { signal })) {
    if (event.type === "line") output.line(event.line, event);
    else if (output.json) output.line("", event);
    else if (event.status !== "failed") output.message(joinSentences(`The deployment is ${event.status}.`, event));
    if (event.type === "end" && event.status === "failed")
      throw new CliError(joinSentences(event.error ?? "The deployment has failed.", event));
  }
}

function joinSentences(sentence: string, { status_message: further }: { status_message: string | null }): string {
  return further === null ? sentence : `${sentence} ${further}`;
}

async function showRuntimeLog(
  client: Client,
  { output, signal }: Context,
  id: string,
  options: LogOptions,
): Promise<void> {
  const { level, since } = options;
  const filter = { id, ...(level !== undefined && { level }), ...(since !== undefined && { since }) };
  if (options.follow !== true) {
    output.value(await client.runtimeLogs.list(filter, { signal }));
    return;
  }
  output.progress("Waiting for messages …");
  for await (const entry of client.followRuntimeLog(filter, { signal }))
    output.line(`${entry.time} ${entry.level.padEnd(5)} ${entry.message}`, entry);
}

async function openApp(context: Context, app: string): Promise<void> {
  const { output, signal, environment } = context;
  const client = await connect(context, `Reading ${app} …`);
  const id = await resolveAppId(client, app, signal);
  const { url } = await client.apps.get({ id }, { signal });
  output.value({ url }, () => url);
  if (!(await openBrowser(url, environment))) output.message("No browser can be opened here. Open the URL yourself.");
}
