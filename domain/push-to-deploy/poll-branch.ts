import { randomUUID } from "node:crypto";
import { App } from "../apps/app.entity.ts";
import { queryBuilderOf } from "../database-types.ts";
import type { WantedRepository } from "../git-connections/find-git-access.ts";
import { readBranchTip, type ReadBranchTipDeps } from "../git-connections/read-branch-tip.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { TemporaryWorkspaces } from "../ports/temporary-workspaces.ts";
import { PushEndpoint } from "../push-records/push-endpoint.entity.ts";
import { BuildFailure } from "../shared/errors.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { inTransaction, runForOrganization } from "../shared/transaction.ts";
import { receiveDelivery } from "./receive-delivery.ts";

export interface PollBranchDeps extends ReadBranchTipDeps {
  jobs: JobQueue;
  workspaces: Pick<TemporaryWorkspaces, "open">;
  /** The time between two looks at one repository. */
  gitPollSeconds: number;
}

/** So many repositories are queued at a time. */
const MAX_DUE = 200;
/** A git host that has not answered by then is asked again the next time. */
const TIMEOUT_MS = 60_000;

/** Queues a look at each branch whose time has come. */
export async function enqueueDuePolls({
  em: root,
  jobs,
  gitPollSeconds,
}: Pick<PollBranchDeps, "em" | "jobs" | "gitPollSeconds">): Promise<void> {
  await inTransaction(root, async (em) => {
    const now = new Date();
    const due = await queryBuilderOf(em)
      .selectFrom("push_endpoints")
      .select(["id", "org_id"])
      .where("next_poll_at", "<=", now)
      .orderBy("next_poll_at")
      .limit(MAX_DUE)
      .forUpdate()
      .skipLocked()
      .execute();
    const nextPollAt = new Date(now.getTime() + gitPollSeconds * 1000);
    for (const { id, org_id: orgId } of due) {
      await em.nativeUpdate(PushEndpoint, { id }, { nextPollAt });
      await jobs.enqueue(em, "push-poll", { endpointId: id, orgId });
    }
  });
}

/**
 * Asks the git host of an app for the newest commit of its branch. A commit that polling has not seen yet is handled as a push that
 * the host has reported. A problem is shown among the deliveries, once a day.
 *
 * @throws the reason of the signal when it is aborted
 */
export async function pollBranch(deps: PollBranchDeps, endpointId: string, signal: AbortSignal): Promise<void> {
  const em = deps.em.fork();
  const endpoint = await em.findOne(PushEndpoint, { id: endpointId, isEnabled: true, polls: true });
  const app = endpoint === null ? null : await em.findOne(App, { id: endpoint.appId, status: { $ne: "deleting" } });
  if (endpoint === null || !app?.repo || !app.branch) return;
  const { orgId, repo, gitHost: host = null } = app;
  const branch = endpoint.branch ?? app.branch;
  await runForOrganization(orgId, async () => {
    try {
      const commit = await readTip(deps, { appId: app.id, orgId, repo, host }, branch, signal);
      if (commit !== endpoint.polledCommit) await report(deps, endpoint, repo, { branch, commit });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof BuildFailure)) throw error;
      await reportProblem(deps, endpoint, error);
    }
  });
}

async function readTip(
  deps: PollBranchDeps,
  { appId, orgId, repo, host }: WantedRepository & { appId: string },
  branch: string,
  signal: AbortSignal,
): Promise<string> {
  const workspace = await deps.workspaces.open(`poll-${appId}-${randomUUID()}`, 1);
  try {
    return await readBranchTip(deps, workspace, {
      ...{ orgId, repo, host, branch },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  } finally {
    await workspace.remove();
  }
}

async function report(
  deps: PollBranchDeps,
  { id, orgId, polledCommit = null }: PushEndpoint,
  repo: string,
  { branch, commit }: { branch: string; commit: string },
): Promise<void> {
  const ref = { ref: `refs/heads/${branch}`, before: polledCommit, commit, message: null, paths: null };
  // The same commit can be the newest one again later, after a forced push.
  const delivery = { source: "poll", externalId: randomUUID(), bodyHash: null, event: "poll" } as const;
  await receiveDelivery(deps, { id, orgId }, { ...delivery, push: { repo, refs: [ref] } });
  // After a crash in between, the next look reports the commit again, which is not deployed twice.
  await deps.em.fork().nativeUpdate(PushEndpoint, { id }, { polledCommit: commit });
}

async function reportProblem(deps: PollBranchDeps, { id, orgId }: PushEndpoint, error: BuildFailure): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  const externalId = sha256Hex(`${day} ${error.message}`);
  const delivery = { source: "poll", externalId, bodyHash: null, event: "poll" } as const;
  await receiveDelivery(deps, { id, orgId }, { ...delivery, push: null, problem: error.message });
}
