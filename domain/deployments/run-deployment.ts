import type { EntityManager } from "@mikro-orm/core";
import { appToken } from "../apps/app-token.ts";
import { BuildFailure } from "../shared/errors.ts";
import { StaleGeneration } from "../ports/edge-platform.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { Workspaces } from "../ports/workspaces.ts";
import { DeploymentLog } from "./deployment-log.ts";
import { type Attempt, runSteps, type StepDeps } from "./deployment-steps.ts";
import { claimDeployment } from "./claim-deployment.ts";
import { DeploymentLease, Superseded } from "./lease.ts";
import { formsOf, sanitizeLog } from "./sanitize-log.ts";
import { failDeployment, finishDeployment, requeueDeployment } from "./finish-deployment.ts";

export interface DeploymentDeps extends StepDeps {
  em: EntityManager;
  jobs: JobQueue;
  workspaces: Workspaces;
  changes: ChangeFeed;
  /** What must never appear in a log or an error, such as database passwords. */
  secrets: readonly string[];
}

/** How often a build is taken up in all before a fault of ours, or a crash in the middle, ends it. */
const MAX_ATTEMPTS = 3;

/** A fault of the platform; the queue should run the build again. */
export class RetryDeployment extends Error {
  override readonly name = "TryAgain";
}

/**
 * Runs one attempt of a build to its end. However it ends, the app's status says so, and a build that does not reach
 * `ready` leaves none of its resources behind. When `stop` is aborted the build is handed back to the queue.
 *
 * @throws {RetryDeployment} after a fault of the platform that is worth another attempt
 * @throws {DeploymentIsLeased} while another worker has the build
 */
export async function runDeployment(deps: DeploymentDeps, buildId: string, stop: AbortSignal): Promise<void> {
  const build = await claimDeployment(deps.em, buildId);
  if (build === null) return;
  await using opened = new AsyncDisposableStack();
  const hold = opened.use(new DeploymentLease(deps.em, build));
  const secrets = [
    ...deps.secrets,
    appToken(deps.tokenSecret, { id: build.appId, tokenVersion: build.tokenVersion }),
  ].flatMap(formsOf);
  const log = opened.adopt(await DeploymentLog.open(deps.objects, build.appId, secrets), (it) => it.close());
  const workspace = opened.adopt(await deps.workspaces.open(build.buildId, build.fence), (it) => it.remove());
  const attempt = { build, workspace, log, signal: AbortSignal.any([hold.signal, stop]) };
  await attemptBuild(deps, attempt, { secrets, superseded: hold.signal, stop });
}

interface Bounds {
  secrets: readonly string[];
  superseded: AbortSignal;
  stop: AbortSignal;
}

async function attemptBuild(deps: DeploymentDeps, attempt: Attempt, bounds: Bounds): Promise<void> {
  const { build, log } = attempt;
  try {
    if (build.attempt > 1) log.say(`attempt ${build.attempt} of ${MAX_ATTEMPTS}`);
    if (build.attempt > MAX_ATTEMPTS) throw interrupted();
    const { procedures, problem } = await runSteps(deps, attempt);
    log.say("ready");
    await log.flush();
    const shown = problem === null ? null : sanitizeLog(`The app is live. ${problem}`, bounds.secrets);
    await finishDeployment(deps.em, build, { procedures, statusMessage: shown });
    deps.changes.announce(build.orgId);
  } catch (error) {
    if (isSuperseded(error) || bounds.superseded.aborted) return log.say("stopped: the app was deleted or taken over");
    if (bounds.stop.aborted) {
      log.say("interrupted by a restart of the service; the build will start again");
      return requeueDeployment(deps, build);
    }
    await settle(deps, attempt, error, bounds.secrets);
  }
}

async function settle(
  deps: DeploymentDeps,
  { build, log }: Attempt,
  error: unknown,
  secrets: readonly string[],
): Promise<void> {
  const failure = error instanceof BuildFailure ? error : fault(error);
  if (failure.kind === "platform") deps.reportInternalError(error, build);
  log.say(`failed: ${failure.message}`);
  if (failure.kind === "platform" && build.attempt < MAX_ATTEMPTS) {
    log.say("this is a fault of the platform; the build will be tried again");
    throw new RetryDeployment(`attempt ${build.attempt} of build ${build.buildId} failed`, { cause: error });
  }
  const shown = { error: sanitizeLog(failure.message, secrets), statusMessage: sanitizeLog(failure.advice, secrets) };
  await log.flush();
  await failDeployment(deps, build, shown).catch((cause: unknown) => {
    if (!isSuperseded(cause)) throw cause;
  });
}

function isSuperseded(error: unknown): boolean {
  return error instanceof Superseded || error instanceof StaleGeneration;
}

function fault(cause: unknown): BuildFailure {
  return new BuildFailure(
    "platform",
    "The platform failed to build this app.",
    "This is not the app's fault. Deploy again; if it persists, ask the operator to look for this app's id in the service's log.",
    { cause },
  );
}

function interrupted(): BuildFailure {
  return new BuildFailure(
    "platform",
    `The build was interrupted ${MAX_ATTEMPTS} times.`,
    "Deploy again. If the build needs a lot of memory or time, make it smaller.",
  );
}
