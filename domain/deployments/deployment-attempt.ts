import type { EntityManager } from "@mikro-orm/core";
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
import type { LogMasks } from "./log-masks.ts";
import type { AppPlatform } from "./release-resources.ts";
import { type StatusDetails, transitionDeployment } from "./transition-deployment.ts";

export interface StepDeps extends AppPlatform, CustomizeDeps {
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

type Step = "cloning" | "customizing" | "building" | "provisioning";

/**
 * Changes the status of a deployment to the step that begins.
 *
 * @throws {LeaseLost}
 */
export async function startStep(
  { em }: StepDeps,
  { deployment }: Attempt,
  step: Step,
  details: StatusDetails & { statusMessage: string },
): Promise<void> {
  await inTransaction(em, (tx) => transitionDeployment(tx, deployment, step, details));
}
