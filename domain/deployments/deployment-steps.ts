import path from "node:path";
import { findGitAccess } from "../git-connections/find-git-access.ts";
import { isDeepStrictEqual } from "node:util";
import { App } from "../apps/app.entity.ts";
import { sourceBucketName } from "../apps/app-resources.ts";
import type { BuiltBundle, BundleStep } from "../ports/bundler.ts";
import type { DiscoveryResult } from "../ports/procedure-discovery.ts";
import { discoverProcedures, formatDiscovery } from "../procedures/discover-procedures.ts";
import { storeArtifact } from "./artifacts.ts";
import { customizeSource } from "./customize-source.ts";
import { type Attempt, startStatus, startStep, type StepDeps, type StepsResult } from "./deployment-attempt.ts";
import { describeDatabaseChange, readLiveDatabaseUse } from "./database-use.ts";
import { Deployment } from "./deployment.entity.ts";
import { provisionApp } from "./provision-app.ts";
import { recordRuntime } from "./record-runtime.ts";
import { runPromotion } from "./run-promotion.ts";
import { runRollback } from "./run-rollback.ts";
import { unpackArchive } from "./unpack-archive.ts";

/** Takes a claimed deployment from its repository to a live app. Every step can be repeated from the start. */
export async function runSteps(deps: StepDeps, attempt: Attempt): Promise<StepsResult> {
  const { customization, rollbackToId, promotedFromId } = attempt.deployment;
  await attempt.masks.refresh();
  if (rollbackToId !== null) return runRollback(deps, attempt, rollbackToId);
  if (promotedFromId !== null) return runPromotion(deps, attempt, promotedFromId);
  const omissions = await fetchSource(deps, attempt);
  if (customization !== null) await customize(deps, attempt, customization);
  const variables = await deps.variables.readForBuild(attempt.deployment.appId);
  const bundle = await build(deps, attempt, variables);
  await startStep(deps, attempt, "inspect");
  const { procedures, problem } = await discover(deps, attempt, bundle);
  const { workspace, signal } = attempt;
  await startStep(deps, attempt, "store");
  const artifactKey = await storeArtifact(deps, attempt.deployment, { bundle, workspace, signal });
  const change = describeDatabaseChange(bundle.code, await readLiveDatabaseUse(deps, attempt.deployment.appId));
  const problems = [...(await provisionApp(deps, attempt, bundle)), ...omissions, ...bundle.warnings];
  problems.push(...[problem, change].filter((each) => each !== null));
  // The script has the newest variables. What the build wrote into it may contain earlier values.
  if (!isDeepStrictEqual(variables, await deps.variables.readForBuild(attempt.deployment.appId)))
    problems.push("Variables for builds have changed since the build started. Deploy again to build with them.");
  return { procedures, problems, artifactKey, framework: bundle.framework };
}

/** @returns what the source lacks, as sentences for the app's owner */
function fetchSource(deps: StepDeps, attempt: Attempt): Promise<readonly string[]> {
  const { archiveId, repo, branch } = attempt.deployment;
  if (archiveId !== null) return unpackArchive(deps, attempt, archiveId);
  if (repo === null || branch === null) throw new Error("the deployment has neither a repository nor an archive");
  return clone(deps, attempt, { repo, branch });
}

async function clone(
  deps: StepDeps,
  attempt: Attempt,
  { repo, branch }: { repo: string; branch: string },
): Promise<readonly string[]> {
  const { deployment, workspace, log, signal } = attempt;
  const {
    appId,
    deploymentId,
    fencingToken,
    orgId,
    gitHost: host,
    branchIsDefault: orDefaultBranch,
    requestedCommit: commit,
  } = deployment;
  await startStatus(deps, attempt, "cloning", { statusMessage: `Cloning ${repo} (${commit ?? branch}).`, error: null });
  log.say(`cloning ${repo}, ${commit === null ? `branch ${branch}` : `commit ${commit}`}`);
  const directory = workspace.sourceDirectory;
  const access = await findGitAccess(deps, { orgId, repo, host });
  const wanted = { repo, access, branch, orDefaultBranch, commit };
  const checkout = await deps.git.checkOut({ ...wanted, directory, onOutput: log.output, signal });
  const { warnings = [], branch: used = branch } = checkout;
  const em = deps.em.fork();
  await em.nativeUpdate(Deployment, { id: deploymentId, fencingToken }, { commit: checkout.commit, branch: used });
  if (used !== branch) await em.nativeUpdate(App, { id: appId, fencingToken, branch }, { branch: used });
  for (const warning of warnings) log.say(`warning: ${warning}`);
  return warnings;
}

async function customize(deps: StepDeps, attempt: Attempt, instructions: string): Promise<void> {
  const { deployment, workspace, log, masks, signal } = attempt;
  await startStatus(deps, attempt, "customizing", {
    statusMessage: "The app builder agent is customizing the source.",
  });
  log.say("customizing");
  // The agent reads what trials print.
  await masks.refresh();
  const say = (line: string) => log.say(line);
  await customizeSource(deps, { deployment, instructions, workspace, say, onOutput: log.output, signal });
}

async function build(
  deps: StepDeps,
  attempt: Attempt,
  variables: Readonly<Record<string, string>>,
): Promise<BuiltBundle> {
  const { deployment, workspace, log, masks, signal } = attempt;
  const manifest = { object_bucket_name: sourceBucketName(deployment.appId) };
  await startStatus(deps, attempt, "building", { statusMessage: "Installing and building.", manifest });
  // Before the build, so that the stored files are the sources, without the files that the build adds.
  await storeSources(deps, attempt);
  const { sourceDirectory, outputDirectory } = workspace;
  // The build must not print a secret that was set after the start of the deployment.
  await masks.refresh();
  const { deploymentId, fencingToken, buildNetwork: network, orgId: organizationId, appId } = deployment;
  const registry = await deps.variables.readRegistry(appId);
  const { rootDirectory: requestedRoot, requestedRuntime: runtime } = deployment;
  const settings = { rootDirectory: requestedRoot, runtime, network, variables, registry };
  const source = { sourceDirectory, outputDirectory, ...settings };
  const onStep = (step: BundleStep) => startStep(deps, attempt, step);
  const bundle = await deps.bundler.bundle({ ...source, organizationId, appId, onOutput: log.output, onStep, signal });
  await recordRuntime(deps, deployment, bundle.code.runtime);
  const { rootDirectory } = bundle;
  if (deployment.rootDirectory === null && rootDirectory !== ".")
    await deps.em.fork().nativeUpdate(Deployment, { id: deploymentId, fencingToken }, { rootDirectory });
  for (const warning of bundle.warnings) log.say(`warning: ${warning}`);
  return bundle;
}

/** A file that stays is never missing in between, for those who copy the bucket meanwhile. */
async function storeSources(deps: StepDeps, { deployment, workspace, signal }: Attempt): Promise<void> {
  const bucket = sourceBucketName(deployment.appId);
  const files = await Array.fromAsync(workspace.sourceFiles());
  const paths = new Set(files.map((file) => file.path));
  // First, because a folder can replace a file.
  for (const { key } of await deps.objects.list(bucket)) {
    if (paths.has(key)) continue;
    signal.throwIfAborted();
    await deps.objects.remove(bucket, key);
  }
  for (const file of files) {
    signal.throwIfAborted();
    await deps.objects.put(bucket, file.path, await file.read());
  }
}

async function discover(
  { discovery, reportInternalError, variables }: StepDeps,
  { deployment, workspace, log, masks, signal }: Attempt,
  { code, rootDirectory }: BuiltBundle,
): Promise<DiscoveryResult> {
  await masks.refresh();
  const sourceDirectory = path.join(workspace.sourceDirectory, rootDirectory);
  const report = (error: unknown) => reportInternalError(error, deployment);
  const request = { code, sourceDirectory, variables: await variables.read(deployment.appId), signal };
  const found = await discoverProcedures({ discovery, reportInternalError: report }, request);
  log.say(formatDiscovery(found));
  if (found.problem !== null) log.say(found.problem);
  for (const line of found.leftOut ?? []) log.say(line);
  return found;
}
