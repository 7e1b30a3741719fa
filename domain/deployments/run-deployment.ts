import type { EntityManager } from "@mikro-orm/core";
import { appToken } from "../apps/app-token.ts";
import { IMPORT_BUCKET } from "../exports/import-objects.ts";
import { UnreadableVariable } from "../ports/app-variables.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import { StaleGeneration } from "../ports/edge-platform.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { TemporaryWorkspaces } from "../ports/temporary-workspaces.ts";
import { BuildFailure } from "../shared/errors.ts";
import { sanitizeLog } from "../shared/sanitize-log.ts";
import { encodingsOf } from "../shared/secret-masks.ts";
import { removeOldArtifacts } from "./artifacts.ts";
import { claimDeployment, type ClaimedDeployment } from "./claim-deployment.ts";
import type { Attempt, StepDeps } from "./deployment-attempt.ts";
import { DeploymentLog } from "./deployment-log.ts";
import { runSteps } from "./deployment-steps.ts";
import { endCanceledDeployment, failDeployment, finishDeployment, requeueDeployment } from "./finish-deployment.ts";
import { DeploymentCanceled, DeploymentLease, LeaseLost } from "./lease.ts";
import { LogMasks } from "./log-masks.ts";
import { unreadableVariable } from "./provision-app.ts";
import { removeOldDeployments } from "./remove-old-deployments.ts";
import type { UnusedDependenciesDeps } from "./remove-unused-dependencies.ts";
import { restoreLiveScript } from "./restore-live-script.ts";

export interface DeploymentDeps extends StepDeps, UnusedDependenciesDeps {
  em: EntityManager;
  jobs: JobQueue;
  workspaces: TemporaryWorkspaces;
  changes: ChangeFeed;
  /** Announces the id of a deployment whose log or status has changed, to those who follow the log. */
  logChanges: ChangeFeed;
  /** Texts that must never appear in a log or an error, such as database passwords. */
  secrets: readonly string[];
}

/** The maximum number of attempts. After the last one, an internal error or a crash makes the deployment fail. */
const MAX_ATTEMPTS = 3;

/** An internal error ended the attempt. The queue should start the deployment again. */
export class RetryDeployment extends Error {
  override readonly name = "RetryDeployment";
}

/**
 * Runs one attempt of a deployment to its end. The deployment's status shows how it ended. A first deployment that does
 * not become `ready` leaves no resource behind. If `stop` aborts, the deployment goes back to the queue.
 *
 * @throws {RetryDeployment} after an internal error, while attempts are left
 * @throws {DeploymentIsLeased} while another worker holds the lease
 */
export async function runDeployment(deps: DeploymentDeps, deploymentId: string, stop: AbortSignal): Promise<void> {
  const deployment = await claimDeployment(deps.em, deploymentId);
  if (deployment === null) return;
  await using opened = new AsyncDisposableStack();
  const lease = opened.use(new DeploymentLease(deps.em, deployment));
  const { appId, tokenVersion, logKey, fencingToken } = deployment;
  const ownToken = appToken(deps.tokenSecret, { id: appId, tokenVersion });
  const masks = new LogMasks([...deps.secrets, ownToken].flatMap(encodingsOf), deps.variables, appId);
  const announce = () => deps.logChanges.announce(deploymentId);
  // A reader of the log learns at once how the attempt ended.
  opened.defer(announce);
  const logOptions = { objects: deps.objects, key: logKey, secrets: masks.texts, onStored: announce };
  const log = opened.adopt(await DeploymentLog.open(logOptions), (it) => it.close());
  const workspace = opened.adopt(await deps.workspaces.open(deploymentId, fencingToken), (it) => it.remove());
  const attempt = { deployment, workspace, log, masks, steps: [], signal: AbortSignal.any([lease.signal, stop]) };
  await runAttempt(deps, attempt, { ended: lease.signal, stop });
}

interface RunContext {
  /** Aborts when the lease is lost, or when the owner cancels the deployment. */
  ended: AbortSignal;
  stop: AbortSignal;
}

async function runAttempt(deps: DeploymentDeps, attempt: Attempt, context: RunContext): Promise<void> {
  const { deployment, log, masks } = attempt;
  try {
    if (deployment.attempt > 1) log.say(`attempt ${deployment.attempt} of ${MAX_ATTEMPTS}`);
    if (deployment.attempt > MAX_ATTEMPTS) throw interruptedTooOften();
    if (deployment.isCanceled) throw new DeploymentCanceled();
    const { procedures, problems, artifactKey, framework } = await runSteps(deps, attempt);
    log.say("ready");
    await log.flush();
    const shown = sanitizeLog(["The app is live.", ...problems].join(" "), masks.texts);
    const statusMessage = problems.length === 0 ? null : shown;
    await finishDeployment(deps, deployment, { procedures, statusMessage, artifactKey, framework });
    deps.changes.announce(deployment.orgId);
    await removeUnused(deps, deployment);
    // If this fails, the sweep does it.
    if (deployment.importKey !== null)
      await deps.objects.remove(IMPORT_BUCKET, deployment.importKey).catch(() => undefined);
  } catch (error) {
    if (deployment.isCanceled || context.ended.reason instanceof DeploymentCanceled)
      return endCanceled(deps, attempt, context);
    // The app was deleted, or another worker continues and writes the log.
    if (isLeaseLost(error) || context.ended.aborted) return log.abandon();
    if (context.stop.aborted) {
      log.say("interrupted by a restart of the service; the build will start again");
      return requeueDeployment(deps, deployment);
    }
    await handleFailure(deps, attempt, context, error);
  }
}

async function endCanceled(deps: DeploymentDeps, attempt: Attempt, context: RunContext): Promise<void> {
  attempt.log.say("canceled");
  await endWithoutSuccess(deps, attempt, context, () => endCanceledDeployment(deps, attempt.deployment));
}

async function endWithoutSuccess(
  deps: DeploymentDeps,
  attempt: Attempt,
  { stop }: RunContext,
  record: () => Promise<void>,
): Promise<void> {
  try {
    // The signal of a canceled attempt is aborted, and the edge platform refuses a worker that lost its lease.
    await restoreLiveScript(deps, { ...attempt, signal: stop });
    await attempt.log.flush();
    await record();
  } catch (error) {
    if (!isLeaseLost(error)) throw error;
  }
  await removeUnused(deps, attempt.deployment);
}

/** A failure changes nothing for the app, and the next deployment removes what is left. */
async function removeUnused(deps: DeploymentDeps, deployment: ClaimedDeployment): Promise<void> {
  try {
    await removeOldArtifacts(deps, deployment.appId);
    await removeOldDeployments(deps, deployment.appId);
  } catch (error) {
    deps.reportInternalError(error, deployment);
  }
}

async function handleFailure(
  deps: DeploymentDeps,
  attempt: Attempt,
  context: RunContext,
  error: unknown,
): Promise<void> {
  const { deployment, log, masks } = attempt;
  const failure = toFailure(error);
  // The app may have printed a secret that was set while it was built.
  await masks.refresh().catch(() => {});
  if (failure.kind === "platform") deps.reportInternalError(error, deployment);
  log.say(`failed: ${failure.message}`);
  if (failure.kind === "platform" && deployment.attempt < MAX_ATTEMPTS) {
    log.say("this is an error of the platform; the build will be tried again");
    const { deploymentId, attempt: number } = deployment;
    throw new RetryDeployment(`attempt ${number} of deployment ${deploymentId} failed`, { cause: error });
  }
  const shown = {
    error: sanitizeLog(failure.message, masks.texts),
    statusMessage: sanitizeLog(failure.advice, masks.texts),
  };
  await endWithoutSuccess(deps, attempt, context, () => failDeployment(deps, deployment, shown));
}

/**
 * `StaleGeneration` also means that the lease is lost: the edge platform rejects a script with an older fencing token
 * than the live one.
 */
function isLeaseLost(error: unknown): boolean {
  return error instanceof LeaseLost || error instanceof StaleGeneration;
}

function toFailure(error: unknown): BuildFailure {
  if (error instanceof BuildFailure) return error;
  return error instanceof UnreadableVariable ? unreadableVariable(error) : internalFailure(error);
}

function internalFailure(cause: unknown): BuildFailure {
  return new BuildFailure(
    "platform",
    "The platform failed to build this app.",
    "The app is not the cause. Deploy again. If it fails again, ask the operator to look for the app's id in the service's log.",
    { cause },
  );
}

function interruptedTooOften(): BuildFailure {
  return new BuildFailure(
    "platform",
    `The build was interrupted ${MAX_ATTEMPTS} times.`,
    "Deploy again. If the build needs a lot of memory or time, make it smaller.",
  );
}
