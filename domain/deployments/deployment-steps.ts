import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { sourceBucketName, sqlDatabaseId } from "../apps/app-resources.ts";
import { syncAuthEntry } from "../apps/sync-auth-entry.ts";
import { BuildFailure } from "../shared/errors.ts";
import { type AppVariables, type BuildVariables, UnreadableVariable } from "../ports/app-variables.ts";
import type { AppBuilder } from "../ports/app-builder.ts";
import type { BuiltBundle, Bundle, Bundler } from "../ports/bundler.ts";
import type { GitSource } from "../ports/git-source.ts";
import { UnhealthyScript, UnsupportedScript } from "../ports/edge-platform.ts";
import type { DiscoveredProcedure, DiscoveryResult, ProcedureDiscovery } from "../ports/procedure-discovery.ts";
import { MigrationFailed } from "../ports/sql-databases.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { Procedure } from "../procedures/procedure.entity.ts";
import { discoverProcedures, formatDiscovery } from "../procedures/discover-procedures.ts";
import { loadArtifact, readMigrationNames, storeArtifact } from "./artifacts.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import { Deployment } from "./deployment.entity.ts";
import type { DeploymentLog } from "./deployment-log.ts";
import type { LogMasks } from "./log-masks.ts";
import { LeaseLost } from "./lease.ts";
import type { AppPlatform } from "./release-resources.ts";
import { type StatusDetails, transitionDeployment } from "./transition-deployment.ts";

export interface StepDeps extends AppPlatform {
  em: EntityManager;
  git: GitSource;
  bundler: Bundler;
  appBuilder: AppBuilder | null;
  discovery: ProcedureDiscovery;
  tokenSecret: string;
  variables: AppVariables & BuildVariables;
  /** Reports an internal error to the operator. The app's owner does not see it. */
  reportInternalError(error: unknown, where: { deploymentId: string; appId: string; attempt: number }): void;
}

/** The data that all steps of one attempt use. */
export interface Attempt {
  deployment: ClaimedDeployment;
  workspace: Workspace;
  log: DeploymentLog;
  masks: LogMasks;
  signal: AbortSignal;
}

/** What an attempt has put live. */
export interface StepsResult {
  procedures: readonly DiscoveredProcedure[];
  /** What the app's owner should know although the app is live, as sentences. */
  problems: string[];
  artifactKey: string;
  framework: string | null;
}

/** Takes a claimed deployment from its repository to a live app. Every step can be repeated from the start. */
export async function runSteps(deps: StepDeps, attempt: Attempt): Promise<StepsResult> {
  const { customization, rollbackToId } = attempt.deployment;
  await attempt.masks.refresh();
  if (rollbackToId !== null) return restore(deps, attempt, rollbackToId);
  await clone(deps, attempt);
  if (customization !== null) await customize(deps, attempt, customization);
  const variables = await deps.variables.readForBuild(attempt.deployment.appId);
  const bundle = await build(deps, attempt, variables);
  const { procedures, problem } = await discover(deps, attempt, bundle);
  const { workspace, signal } = attempt;
  const artifactKey = await storeArtifact(deps, attempt.deployment, { bundle, workspace, signal });
  await provision(deps, attempt, bundle);
  const problems = [...bundle.warnings, ...(problem === null ? [] : [problem])];
  // The script has the newest variables. What the build wrote into it may contain earlier values.
  if (!isDeepStrictEqual(variables, await deps.variables.readForBuild(attempt.deployment.appId)))
    problems.push("Variables for builds have changed since the build started. Deploy again to build with them.");
  return { procedures, problems, artifactKey, framework: bundle.framework };
}

/** Puts the bundle of an earlier deployment live again. */
async function restore(deps: StepDeps, attempt: Attempt, targetId: string): Promise<StepsResult> {
  const { deployment, log } = attempt;
  const { appId } = deployment;
  const em = deps.em.fork();
  const target = await em.findOneOrFail(Deployment, { id: targetId });
  log.say(`rolling back to deployment ${target.number}`);
  const key = target.artifactKey ?? null;
  const bundle = key === null ? null : await loadArtifact(deps, { appId, key }, attempt);
  if (key === null || bundle === null)
    throw new BuildFailure(
      "user",
      `The bundle of deployment ${target.number} is not kept any more.`,
      "Deploy its commit again, or roll back to a newer deployment.",
    );
  const newer = await findNewerMigrations(deps, appId, bundle);
  const problems = newer.length === 0 ? [] : [`The SQL database keeps the later migrations ${newer.join(", ")}.`];
  for (const problem of problems) log.say(problem);
  await provision(deps, attempt, { ...bundle, migrations: [] });
  const procedures = await em.find(Procedure, { deploymentId: targetId });
  return { procedures: procedures.map(toDiscovered), problems, artifactKey: key, framework: bundle.framework };
}

/** The migrations of the live deployment that a bundle does not have. */
async function findNewerMigrations(deps: StepDeps, appId: string, bundle: Bundle): Promise<string[]> {
  const em = deps.em.fork();
  const { liveDeploymentId } = await em.findOneOrFail(App, { id: appId });
  const live = await em.findOne(Deployment, { id: liveDeploymentId ?? null });
  const applied = await readMigrationNames(deps, { appId, key: live?.artifactKey ?? null });
  const known = new Set(bundle.migrations.map(({ name }) => name));
  return applied.filter((name) => !known.has(name));
}

function toDiscovered({
  name,
  kind,
  description,
  inputSchema,
  outputSchema,
  invocation,
}: Procedure): DiscoveredProcedure {
  return { name, kind, description, inputSchema, outputSchema: outputSchema ?? null, invocation };
}

type Step = "cloning" | "customizing" | "building" | "provisioning";

async function startStep(
  { em }: StepDeps,
  { deployment }: Attempt,
  step: Step,
  details: StatusDetails & { statusMessage: string },
): Promise<void> {
  await em.fork().transactional((tx) => transitionDeployment(tx, deployment, step, details));
}

async function clone(deps: StepDeps, attempt: Attempt): Promise<void> {
  const { deployment, workspace, log, signal } = attempt;
  const {
    deploymentId,
    fencingToken,
    repo,
    branch,
    branchIsDefault: orDefaultBranch,
    requestedCommit: commit,
  } = deployment;
  await startStep(deps, attempt, "cloning", { statusMessage: `Cloning ${repo} (${commit ?? branch}).`, error: null });
  log.say(`cloning ${repo}, ${commit === null ? `branch ${branch}` : `commit ${commit}`}`);
  const directory = workspace.sourceDirectory;
  const wanted = { repo, branch, orDefaultBranch, commit };
  const checkout = await deps.git.checkOut({ ...wanted, directory, onOutput: log.output, signal });
  await deps.em.fork().nativeUpdate(Deployment, { id: deploymentId, fencingToken }, { commit: checkout.commit });
}

async function customize(deps: StepDeps, attempt: Attempt, instructions: string): Promise<void> {
  const { workspace, log, signal } = attempt;
  if (deps.appBuilder === null)
    throw new BuildFailure(
      "user",
      "This deployment has a customization, which is not available in this version.",
      "Deploy again without customization.",
    );
  await startStep(deps, attempt, "customizing", { statusMessage: "The app builder agent is customizing the source." });
  log.say("customizing");
  await deps.appBuilder.customize({
    sourceDirectory: workspace.sourceDirectory,
    instructions,
    onOutput: log.output,
    signal,
  });
}

async function build(
  deps: StepDeps,
  attempt: Attempt,
  variables: Readonly<Record<string, string>>,
): Promise<BuiltBundle> {
  const { deployment, workspace, log, masks, signal } = attempt;
  const manifest = { object_bucket_name: sourceBucketName(deployment.appId) };
  await startStep(deps, attempt, "building", { statusMessage: "Installing and building.", manifest });
  // Before the build, so that the stored files are the sources, without the files that the build adds.
  await storeSources(deps, attempt);
  const { sourceDirectory, outputDirectory } = workspace;
  // The build must not print a secret that was set after the start of the deployment.
  await masks.refresh();
  const { deploymentId, fencingToken, buildNetwork: network, orgId: organizationId } = deployment;
  const source = { sourceDirectory, outputDirectory, rootDirectory: deployment.rootDirectory, network, variables };
  const bundle = await deps.bundler.bundle({ ...source, organizationId, onOutput: log.output, signal });
  const { rootDirectory } = bundle;
  if (deployment.rootDirectory === null && rootDirectory !== ".")
    await deps.em.fork().nativeUpdate(Deployment, { id: deploymentId, fencingToken }, { rootDirectory });
  for (const warning of bundle.warnings) log.say(`warning: ${warning}`);
  return bundle;
}

async function storeSources(deps: StepDeps, { deployment, workspace, signal }: Attempt): Promise<void> {
  const bucket = sourceBucketName(deployment.appId);
  await deps.objects.removeBucket(bucket);
  for await (const file of workspace.sourceFiles()) {
    signal.throwIfAborted();
    await deps.objects.put(bucket, file.path, await file.read());
  }
}

async function discover(
  { discovery, reportInternalError }: StepDeps,
  { deployment, workspace, log, signal }: Attempt,
  { scriptPath, rootDirectory }: BuiltBundle,
): Promise<DiscoveryResult> {
  const sourceDirectory = path.join(workspace.sourceDirectory, rootDirectory);
  const report = (error: unknown) => reportInternalError(error, deployment);
  const request = { scriptPath, sourceDirectory, signal };
  const found = await discoverProcedures({ discovery, reportInternalError: report }, request);
  log.say(formatDiscovery(found));
  if (found.problem !== null) log.say(found.problem);
  return found;
}

async function provision(deps: StepDeps, attempt: Attempt, bundle: Bundle): Promise<void> {
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

export function unreadableVariable(cause: UnreadableVariable): BuildFailure {
  return new BuildFailure("user", cause.message, "Then deploy again.", { cause });
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
    const advice =
      error instanceof UnsupportedScript
        ? "Remove it from the wrangler configuration and from the code, or call the service over HTTP, and deploy again."
        : "The app was built but did not respond to its first request. Run it locally, correct it, and deploy again.";
    throw new BuildFailure("user", error.message, advice, { cause: error });
  }
}
