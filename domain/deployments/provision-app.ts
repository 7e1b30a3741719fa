import { sourceBucketName, sqlDatabaseId } from "../apps/app-resources.ts";
import { syncAuthEntry } from "../apps/sync-auth-entry.ts";
import { UnreadableVariable } from "../ports/app-variables.ts";
import type { Bundle } from "../ports/bundler.ts";
import { MissingVariables, NoHandler, UnhealthyScript, UnsupportedScript } from "../ports/edge-platform.ts";
import { MigrationFailed } from "../ports/sql-databases.ts";
import { BuildFailure } from "../shared/errors.ts";
import { adviseToSet } from "../shared/missing-variables.ts";
import { type Attempt, startStep, type StepDeps } from "./deployment-attempt.ts";
import { LeaseLost } from "./lease.ts";

/**
 * Creates the resources of the app, applies the migrations of a bundle, and makes it live.
 *
 * @throws {LeaseLost} when the app is gone
 * @throws {BuildFailure} for a migration that fails, and those of `publish`
 */
export async function provisionApp(deps: StepDeps, attempt: Attempt, bundle: Bundle): Promise<void> {
  const { deployment, log, signal } = attempt;
  const { appId } = deployment;
  const manifest = { sql_database_id: sqlDatabaseId(appId), object_bucket_name: sourceBucketName(appId) };
  await startStep(deps, attempt, "provisioning", { statusMessage: "Creating the app's resources.", manifest });
  log.say("provisioning");
  await deps.databases.create(sqlDatabaseId(appId));
  if (bundle.migrations.length > 0) await migrate(deps, attempt, bundle);
  if ((await syncAuthEntry(deps, appId)) === null) throw new LeaseLost();
  signal.throwIfAborted();
  await publish(deps, attempt, bundle);
}

async function migrate(deps: StepDeps, { deployment, log, signal }: Attempt, { migrations }: Bundle): Promise<void> {
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
 * @throws {BuildFailure} when the script does not respond to its health probe, or a variable cannot be decrypted
 * @throws {StaleGeneration} when the worker lost its lease, and its successor has published a script
 */
export async function publish(
  { edge }: Pick<StepDeps, "edge">,
  { deployment, signal }: Pick<Attempt, "deployment" | "signal">,
  { scriptPath, assets }: Bundle,
): Promise<void> {
  const { appId, slug, fencingToken: generation } = deployment;
  try {
    await edge.publish(slug, { appId, generation, scriptPath, assets, databaseId: sqlDatabaseId(appId) }, signal);
  } catch (error) {
    if (error instanceof UnreadableVariable) throw unreadableVariable(error);
    if (!(error instanceof UnhealthyScript)) throw error;
    throw new BuildFailure("user", error.message, adviseOnScript(error), { cause: error });
  }
}

function adviseOnScript(error: UnhealthyScript): string {
  if (error instanceof MissingVariables) return adviseToSet(error.variables, "start");
  if (error instanceof NoHandler)
    return "Export a handler from the main script, and deploy again: export default { fetch(request, env) { return new Response() } }";
  if (error instanceof UnsupportedScript)
    return "Remove it from the wrangler configuration and from the code, or call the service over HTTP, and deploy again.";
  return "The app was built but did not respond to its first request. Run it locally, correct it, and deploy again.";
}

export function unreadableVariable(cause: UnreadableVariable): BuildFailure {
  return new BuildFailure("user", cause.message, "Then deploy again.", { cause });
}
