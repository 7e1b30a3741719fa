import type { EntityManager } from "@mikro-orm/core";
import { databaseIdOf, sourceBucketOf } from "../apps/app-resources.ts";
import { syncAuthEntry } from "../apps/sync-auth-entry.ts";
import { BuildFailure } from "../shared/errors.ts";
import type { AppBuilder } from "../ports/app-builder.ts";
import type { Bundle, Bundler } from "../ports/bundler.ts";
import type { GitSource } from "../ports/git-source.ts";
import { UnhealthyScript } from "../ports/edge-platform.ts";
import type { DiscoveryResult, ProcedureDiscovery } from "../ports/procedure-discovery.ts";
import { MigrationRefused } from "../ports/sql-databases.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { discoverProcedures, formatDiscovery } from "../procedures/discover-procedures.ts";
import { Build } from "./deployment.entity.ts";
import type { DeploymentLog } from "./deployment-log.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import { Superseded } from "./lease.ts";
import { transitionApp } from "./transition-deployment.ts";
import type { AppPlatform } from "./release-resources.ts";

export interface StepDeps extends AppPlatform {
  em: EntityManager;
  git: GitSource;
  bundler: Bundler;
  appBuilder: AppBuilder | null;
  discovery: ProcedureDiscovery;
  tokenSecret: string;
  /** Called with a fault of ours, for the operator; what the app's owner is told holds nothing of it. */
  reportInternalError(fault: unknown, build: { buildId: string; appId: string; attempt: number }): void;
}

/** What the steps of one attempt share. */
export interface Attempt {
  build: ClaimedDeployment;
  workspace: Workspace;
  log: DeploymentLog;
  signal: AbortSignal;
}

/**
 * Takes a held build from its repository to a live app, and tells what the app offers to agents. Every step can be
 * repeated from the start.
 */
export async function runSteps(deps: StepDeps, attempt: Attempt): Promise<DiscoveryResult> {
  await clone(deps, attempt);
  if (attempt.build.customization !== null) await customize(deps, attempt, attempt.build.customization);
  const bundle = await build(deps, attempt);
  const discovery = await discover(deps, attempt, bundle);
  await provision(deps, attempt, bundle);
  return discovery;
}

async function clone(deps: StepDeps, { build, workspace, log, signal }: Attempt): Promise<void> {
  await transitionApp(deps.em.fork(), build, "cloning", {
    statusMessage: `Cloning ${build.repo} (${build.branch}).`,
    error: null,
  });
  log.say(`cloning ${build.repo}, branch ${build.branch}`);
  const { repo, branch } = build;
  const directory = workspace.sourceDirectory;
  const { commit } = await deps.git.checkOut({ repo, branch, directory, onOutput: log.output, signal });
  await deps.em.fork().nativeUpdate(Build, { id: build.buildId }, { commit });
}

async function customize(
  deps: StepDeps,
  { build, workspace, log, signal }: Attempt,
  instructions: string,
): Promise<void> {
  if (deps.appBuilder === null)
    throw new BuildFailure(
      "user",
      "This deploy carries a customization, and no app builder agent is configured.",
      "Configure BUILDER_COMMAND, or deploy again without customization.",
    );
  await transitionApp(deps.em.fork(), build, "customizing", {
    statusMessage: "The app builder agent is customizing the source.",
  });
  log.say("customizing");
  await deps.appBuilder.customize({
    sourceDirectory: workspace.sourceDirectory,
    instructions,
    onOutput: log.output,
    signal,
  });
}

async function build(deps: StepDeps, attempt: Attempt): Promise<Bundle> {
  const { build, workspace, log, signal } = attempt;
  const manifest = { object_bucket_name: sourceBucketOf(build.appId) };
  await transitionApp(deps.em.fork(), build, "building", { statusMessage: "Installing and building.", manifest });
  // Stored before anything is built, so that what is kept is what was built and not what the build left behind.
  await storeSources(deps, attempt);
  const { sourceDirectory, outputDirectory } = workspace;
  return deps.bundler.bundle({ sourceDirectory, outputDirectory, onOutput: log.output, signal });
}

async function storeSources(deps: StepDeps, { build, workspace, signal }: Attempt): Promise<void> {
  const bucket = sourceBucketOf(build.appId);
  await deps.objects.removeBucket(bucket);
  for await (const file of workspace.sourceFiles()) {
    signal.throwIfAborted();
    await deps.objects.put(bucket, file.path, await file.read());
  }
}

async function discover(
  { discovery, reportInternalError }: StepDeps,
  { build, workspace, log, signal }: Attempt,
  { scriptPath }: Bundle,
): Promise<DiscoveryResult> {
  const { sourceDirectory } = workspace;
  const report = (error: unknown) => reportInternalError(error, build);
  const found = await discoverProcedures(
    { discovery, reportInternalError: report },
    { scriptPath, sourceDirectory, signal },
  );
  log.say(formatDiscovery(found));
  if (found.problem !== null) log.say(found.problem);
  return found;
}

async function provision(deps: StepDeps, { build, log, signal }: Attempt, bundle: Bundle): Promise<void> {
  const databaseId = databaseIdOf(build.appId);
  const manifest = {
    sql_database_id: databaseId,
    object_bucket_name: sourceBucketOf(build.appId),
    ...(bundle.framework === null ? {} : { framework: bundle.framework }),
  };
  await transitionApp(deps.em.fork(), build, "provisioning", {
    statusMessage: "Creating the app's resources.",
    manifest,
  });
  log.say("provisioning");
  await deps.databases.create(databaseId);
  if (bundle.migrations.length > 0) await migrate(deps, databaseId, bundle, log, signal);
  if ((await syncAuthEntry(deps, build.appId)) === null) throw new Superseded();
  signal.throwIfAborted();
  await publish(deps, build, bundle, databaseId, signal);
}

async function migrate(
  deps: StepDeps,
  databaseId: string,
  bundle: Bundle,
  log: DeploymentLog,
  signal: AbortSignal,
): Promise<void> {
  log.say(`applying ${bundle.migrations.length} migrations`);
  try {
    await deps.databases.migrate(databaseId, bundle.migrations, signal);
  } catch (error) {
    if (!(error instanceof MigrationRefused)) throw error;
    const advice = "Correct the migration, test it against an empty database, and deploy again.";
    throw new BuildFailure("user", error.message, advice, { cause: error });
  }
}

async function publish(
  deps: StepDeps,
  build: ClaimedDeployment,
  bundle: Bundle,
  databaseId: string,
  signal: AbortSignal,
): Promise<void> {
  const { scriptPath, assets } = bundle;
  const script = { appId: build.appId, generation: build.fence, scriptPath, assets, databaseId };
  try {
    await deps.edge.publish(build.slug, script, signal);
  } catch (error) {
    if (!(error instanceof UnhealthyScript)) throw error;
    const advice =
      "The app was built but did not answer its first request. Run it locally, correct it, and deploy again.";
    throw new BuildFailure("user", error.message, advice, { cause: error });
  }
}
