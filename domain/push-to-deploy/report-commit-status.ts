import type { EntityManager } from "@mikro-orm/core";
import { isInProgress } from "../apps/app-status.ts";
import { App } from "../apps/app.entity.ts";
import { Deployment } from "../deployments/deployment.entity.ts";
import { findHostAccess, type FindGitAccessDeps } from "../git-connections/find-git-access.ts";
import { type CommitState, GitHostError, type GitHosts } from "../ports/git-hosts.ts";
import { PushDelivery } from "../push-records/push-delivery.entity.ts";
import { PushEndpoint } from "../push-records/push-endpoint.entity.ts";
import { ServiceError } from "../shared/errors.ts";
import { runForOrganization } from "../shared/transaction.ts";

export interface ReportStatusDeps extends Omit<FindGitAccessDeps, "gitHosts"> {
  gitHosts: Pick<GitHosts, "checkRepository" | "issueToken" | "setCommitStatus">;
  /** The URL of the service, without a slash at the end; empty while it is unknown. */
  publicUrl: () => string;
}

/**
 * Tells the git host how the deployment of a pushed commit goes, as it is now. Whatever the host responds, the deployment is not
 * affected: the delivery says what the problem is.
 *
 * @throws {GitHostError} when the host cannot be reached; the queue then tries again a few times
 */
export async function reportCommitStatus(deps: ReportStatusDeps, deploymentId: string): Promise<void> {
  const delivery = await deps.em.fork().findOne(PushDelivery, { deploymentId });
  if (delivery === null) return;
  await runForOrganization(delivery.orgId, async () => {
    try {
      // The deployment may have continued meanwhile, and then another call may have told the host already.
      for (let told = null as CommitState | null; ;) {
        const state = await findState(deps.em.fork(), delivery);
        if (state === null || state === told) break;
        if (!(await tell(deps, delivery, state))) return;
        told = state;
      }
      await recordProblem(deps.em, delivery, null);
    } catch (error) {
      await recordProblem(deps.em, delivery, describe(error));
      if (!(error instanceof GitHostError) || error.problem === "unreachable") throw error;
    }
  });
}

/** @returns whether there is a host to tell */
async function tell(deps: ReportStatusDeps, { appId, orgId, commit, deploymentId }: PushDelivery, state: CommitState) {
  const em = deps.em.fork();
  const endpoint = await em.findOne(PushEndpoint, { appId, reportsStatuses: true });
  const app = await em.findOne(App, { id: appId });
  const deployment = await em.findOne(Deployment, { id: deploymentId ?? "" });
  if (endpoint === null || app === null || !deployment?.repo || !commit) return false;
  const { repo, gitHost: host = null } = deployment;
  const access = await findHostAccess(deps, { orgId, repo, host, permissions: { statuses: "write" } });
  if (access === null) return false;
  await deps.gitHosts.setCommitStatus(access, repo, {
    commit,
    state,
    // Apps of the same repository have statuses of their own.
    context: `deploy/${app.slug}`,
    description: `Deployment ${deployment.number}: ${DESCRIPTIONS[state]}`,
    url: deps.publicUrl() === "" ? null : `${deps.publicUrl()}/apps/${appId}/deployments/${deployment.number}`,
  });
  return true;
}

const DESCRIPTIONS = {
  pending: "in progress",
  success: "live",
  failure: "failed",
  canceled: "canceled, or replaced by a newer one",
} as const satisfies Record<CommitState, string>;

async function findState(em: EntityManager, { deploymentId }: PushDelivery): Promise<CommitState | null> {
  const deployment = await em.findOne(Deployment, { id: deploymentId ?? "" });
  if (deployment === null) return null;
  const { status, startedAt } = deployment;
  if (isInProgress(status)) return "pending";
  if (status === "failed") return "failure";
  // One that was live stays a success when a newer one is live.
  return status === "canceled" || (status === "superseded" && !startedAt) ? "canceled" : "success";
}

async function recordProblem(em: EntityManager, { id }: PushDelivery, statusProblem: string | null): Promise<void> {
  const delivery = await em.fork().findOne(PushDelivery, { id });
  if (delivery === null || (delivery.statusProblem ?? null) === statusProblem) return;
  await em.fork().nativeUpdate(PushDelivery, { id }, { statusProblem });
}

function describe(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  if (!(error instanceof GitHostError) || error.problem === "unreachable")
    return "The git host did not accept the commit status. It is told again a few times.";
  return "The token of the git connection may not write commit statuses. Give it this permission, or switch statuses off.";
}
