import { sourceBucketName, sqlDatabaseId } from "../apps/app-resources.ts";
import { syncAuthEntry } from "../apps/sync-auth-entry.ts";
import { restoreImport } from "../exports/restore-import.ts";
import { Organization } from "../organizations/organization.entity.ts";
import { UnreadableVariable } from "../ports/app-variables.ts";
import type { AppCode, Bundle } from "../ports/bundler.ts";
import {
  MissingVariables,
  NoHandler,
  NothingListens,
  ServerMigrationFailed,
  UnhealthyScript,
  UnsupportedScript,
} from "../ports/edge-platform.ts";
import { MigrationFailed } from "../ports/sql-databases.ts";
import { BuildFailure } from "../shared/errors.ts";
import { adviseToSet, formatNames } from "../shared/missing-variables.ts";
import { type Attempt, startStatus, startStep, type StepDeps } from "./deployment-attempt.ts";
import { adviseOnPath } from "./explain-paths.ts";
import { adviseOnVariables, describeStart, describeUnsetExample, findUnsetVariables } from "./explain-start.ts";
import { LeaseLost } from "./lease.ts";

/** A bundle, and the folder of the source that it was built from; none for a rollback. */
type ProvisionedBundle = Bundle & { rootDirectory?: string };

/**
 * Creates the resources of the app, applies the migrations of a bundle, and makes it live.
 *
 * @returns what is wrong with the script although it is live, as sentences for the app's owner
 * @throws {LeaseLost} when the app is gone
 * @throws {BuildFailure} for a migration that fails, and those of `publish`
 */
export async function provisionApp(deps: StepDeps, attempt: Attempt, bundle: ProvisionedBundle): Promise<string[]> {
  const { deployment, log, signal } = attempt;
  const { appId } = deployment;
  const manifest = { sql_database_id: sqlDatabaseId(appId), object_bucket_name: sourceBucketName(appId) };
  await startStatus(deps, attempt, "provisioning", { statusMessage: "Creating the app's resources.", manifest });
  log.say("provisioning");
  await deps.databases.create(sqlDatabaseId(appId));
  if (deployment.importKey !== null) await restoreData(deps, attempt, { importKey: deployment.importKey, bundle });
  if (bundle.migrations.length > 0) await migrate(deps, attempt, bundle);
  if ((await syncAuthEntry(deps, appId)) === null) throw new LeaseLost();
  signal.throwIfAborted();
  const { code } = bundle;
  if (code.runtime === "node" && code.server.migration !== undefined)
    log.say(`before it goes live, its database is brought up to date with \`${code.server.migration}\``);
  await startStep(deps, attempt, "publish");
  return publish(deps, attempt, bundle);
}

/** A crash can come after the app went live, and before that is recorded. Then it has its data, and has changed it. */
async function restoreData(
  deps: StepDeps,
  { deployment, log, signal }: Attempt,
  { importKey, bundle }: { importKey: string; bundle: ProvisionedBundle },
): Promise<void> {
  const { appId, slug } = deployment;
  if ((await deps.edge.liveGeneration(slug)) !== null) return;
  log.say("restoring the data of the export");
  const { plan } = await deps.em.fork().findOneOrFail(Organization, { id: deployment.orgId });
  const maxDatabaseBytes = deps.plans.getLimits(plan).storageBytes;
  const app = { appId, slug, databaseId: sqlDatabaseId(appId), maxDatabaseBytes };
  const left = await restoreImport(deps, { app, importKey, runtime: bundle.code.runtime, signal });
  for (const warning of left) log.say(warning);
}

async function migrate(deps: StepDeps, attempt: Attempt, { migrations }: Bundle): Promise<void> {
  const { deployment, log, signal } = attempt;
  await startStep(deps, attempt, "migrate");
  log.say(`applying ${migrations.length} migrations`);
  try {
    await deps.databases.migrate(sqlDatabaseId(deployment.appId), migrations, signal);
  } catch (error) {
    if (!(error instanceof MigrationFailed)) throw error;
    const advice = "Correct the migration, test it against an empty database, and deploy again.";
    throw new BuildFailure("user", error.message, advice, { cause: error });
  }
}

/**
 * Makes a bundle live at the app's URL.
 *
 * @returns as `provisionApp` does
 * @throws {BuildFailure} when the script does not respond to its health probe, or a variable cannot be decrypted
 * @throws {StaleGeneration} when the worker lost its lease, and its successor has published a script
 */
export async function publish(
  deps: Pick<StepDeps, "edge" | "variables">,
  attempt: Attempt,
  { code, assets, rootDirectory = null }: Omit<ProvisionedBundle, "rootDirectory"> & { rootDirectory?: string | null },
): Promise<string[]> {
  const { deployment, signal } = attempt;
  const { appId, orgId: organizationId, slug, fencingToken: generation } = deployment;
  const script = { appId, organizationId, generation, code, assets, databaseId: sqlDatabaseId(appId) };
  try {
    const { problem = null, printed = [], redirectsToHttps } = await deps.edge.publish(slug, script, signal);
    if (problem === null) {
      const warnings = redirectsToHttps === true ? [warnAboutRedirect(attempt)] : [];
      return [...warnings, ...(await warnAboutVariables(deps, attempt, { printed, code, rootDirectory }))];
    }
    sayPrinted(attempt, problem.printed);
    const advice = await adviseOnStart(deps, attempt, problem, { code, rootDirectory });
    const warning = [describeStart(problem), ...(advice === null ? [] : [advice])].join(" ");
    attempt.log.say(`warning: ${warning}`);
    return [warning];
  } catch (error) {
    if (error instanceof UnreadableVariable) throw unreadableVariable(error);
    if (!(error instanceof UnhealthyScript)) throw error;
    sayPrinted(attempt, error.printed);
    const advice = adviseOnScript(error) ?? (await adviseOnStart(deps, attempt, error, { code, rootDirectory }));
    throw new BuildFailure("user", describeStart(error), advice ?? defaultAdvice(error), { cause: error });
  }
}

/**
 * An app can respond before it fails, for example if it streams its pages, or without what it needs. If it says nothing, the
 * variables that an example names may be optional, so only the build log lists them.
 */
async function warnAboutVariables(
  deps: Pick<StepDeps, "variables">,
  attempt: Attempt,
  { printed, code, rootDirectory }: { printed: readonly string[]; code: AppCode; rootDirectory: string | null },
): Promise<string[]> {
  const missing = await findUnsetVariables(deps, attempt, printed, code);
  if (missing.length === 0) {
    const note = rootDirectory === null ? null : await describeUnsetExample(deps, attempt, { code, rootDirectory });
    if (note !== null) attempt.log.say(note);
    return [];
  }
  sayPrinted(attempt, printed);
  const [verb, subject] = missing.length === 1 ? ["is", "it if the app needs it"] : ["are", "those that the app needs"];
  const warning = `The app printed that ${formatNames(missing)} ${verb} not set. ${adviseToSet(missing, "start", subject)}`;
  attempt.log.say(`warning: ${warning}`);
  return [warning];
}

const REDIRECTS_TO_HTTPS =
  "The app redirects requests to https, and this installation serves apps with http, so browsers cannot open it. Remove the redirect from the app, or ask the operator to serve apps with https.";

function warnAboutRedirect({ log }: Pick<Attempt, "log">): string {
  log.say(`warning: ${REDIRECTS_TO_HTTPS}`);
  return REDIRECTS_TO_HTTPS;
}

/** How much of what an app printed the build log has. */
const MAX_LOGGED_LINES = 30;
const MAX_LOGGED_LENGTH = 1000;

function sayPrinted({ log }: Pick<Attempt, "log">, printed: readonly string[]): void {
  for (const line of printed.slice(0, MAX_LOGGED_LINES))
    log.say(`the app printed: ${line.slice(0, MAX_LOGGED_LENGTH)}`);
}

/** What to do about a failure whose messages say nothing more. */
function defaultAdvice(error: UnhealthyScript): string {
  if (error instanceof ServerMigrationFailed)
    return "Run it against a copy of the database, correct it, and deploy again. If another command updates the database, name it in a file Procfile, such as: release: npm run migrate up";
  if (error instanceof NothingListens)
    return "Let the file that the start command runs listen on the port of the variable PORT, as in app.listen(process.env.PORT), and deploy again.";
  return "The app was built but did not respond to its first request. Run it locally, correct it, and deploy again.";
}

/** @param bundle - the code that failed, and the folder of its source; `null` without source */
async function adviseOnStart(
  deps: Pick<StepDeps, "variables">,
  attempt: Attempt,
  error: UnhealthyScript,
  bundle: { code: AppCode; rootDirectory: string | null },
): Promise<string | null> {
  const source = bundle.rootDirectory === null ? null : attempt.workspace;
  const onPath = bundle.code.runtime === "node" ? await adviseOnPath(source, error) : null;
  return onPath ?? adviseOnVariables(deps, attempt, error, bundle);
}

function adviseOnScript(error: UnhealthyScript): string | null {
  if (error instanceof MissingVariables) return adviseToSet(error.variables, "start");
  if (error instanceof NoHandler)
    return "Export a handler from the main script, and deploy again: export default { fetch(request, env) { return new Response() } }";
  if (error instanceof UnsupportedScript)
    return "Remove it from the wrangler configuration and from the code, or call the service over HTTP, and deploy again.";
  return null;
}

export function unreadableVariable(cause: UnreadableVariable): BuildFailure {
  return new BuildFailure("user", cause.message, "Then deploy again.", { cause });
}
