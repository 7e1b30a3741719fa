import type { EntityManager } from "@mikro-orm/core";
import type { RestoreImportDeps } from "../exports/restore-import.ts";
import type { FindGitAccessDeps } from "../git-connections/find-git-access.ts";
import type { ArchiveSource } from "../ports/archive-source.ts";
import type { AppBuilder } from "../ports/app-builder-agent.ts";
import type { AppVariables, BuildVariables } from "../ports/app-variables.ts";
import type { Bundler } from "../ports/bundler.ts";
import type { GitSource } from "../ports/git-source.ts";
import type { DiscoveredProcedure, ProcedureDiscovery } from "../ports/procedure-discovery.ts";
import type { Workspace } from "../ports/temporary-workspaces.ts";
import { inTransaction } from "../shared/transaction.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import type { CustomizeDeps } from "./customize-source.ts";
import type { DeploymentLog } from "./deployment-log.ts";
import type { DeploymentStatus } from "./deployment-status.ts";
import { Deployment } from "./deployment.entity.ts";
import type { LogMasks } from "./log-masks.ts";
import type { AppPlatform } from "./release-resources.ts";
import type { DeploymentStep, StartedStep } from "./step-times.ts";
import { type StatusDetails, transitionDeployment } from "./transition-deployment.ts";

export interface StepDeps extends AppPlatform, CustomizeDeps, FindGitAccessDeps, RestoreImportDeps {
  em: EntityManager;
  git: GitSource;
  archiveSource: ArchiveSource;
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
  /** The steps so far. */
  steps: StartedStep[];
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

/** The steps that start with a status. */
const STATUS_STEPS = {
  cloning: "fetch",
  customizing: "customize",
  building: "prepare",
  provisioning: "provision",
} as const satisfies Partial<Record<DeploymentStatus, DeploymentStep>>;

/**
 * Changes the status of a deployment, and records the step that starts with it.
 *
 * @throws {LeaseLost}
 */
export async function startStatus(
  { em }: StepDeps,
  { deployment, steps }: Attempt,
  status: keyof typeof STATUS_STEPS,
  details: StatusDetails & { statusMessage: string },
): Promise<void> {
  steps.push(startedNow(STATUS_STEPS[status]));
  await inTransaction(em, (tx) => transitionDeployment(tx, deployment, status, { ...details, steps }));
}

/** Records that a further step of the status has started. */
export async function startStep({ em }: StepDeps, { deployment, steps }: Attempt, name: DeploymentStep): Promise<void> {
  const { deploymentId, fencingToken } = deployment;
  steps.push(startedNow(name));
  // No step fails because its time is not stored. The next one stores all of them.
  await em
    .fork()
    .nativeUpdate(Deployment, { id: deploymentId, fencingToken }, { steps })
    .catch(() => undefined);
}

function startedNow(name: DeploymentStep): StartedStep {
  return { name, started_at: new Date().toISOString() };
}
