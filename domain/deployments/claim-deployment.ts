import type { EntityManager } from "@mikro-orm/core";
import { LockMode } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { IN_PROGRESS } from "../apps/app-status.ts";
import { Build } from "./deployment.entity.ts";

/** A build that this worker, and no other, may work on, as long as the app's fence is still `fence`. */
export interface ClaimedDeployment {
  buildId: string;
  appId: string;
  orgId: string;
  slug: string;
  tokenVersion: number;
  repo: string;
  branch: string;
  customization: string | null;
  attempt: number;
  fence: number;
}

/** How long a hold lasts without a sign of life of its worker, in milliseconds. */
export const LEASE_MS = 10_000;

/** Another worker holds the build, or did until a moment ago; the queue tries again a little later. */
export class DeploymentIsLeased extends Error {
  override readonly name = "BuildIsHeld";
}

/**
 * Takes a build over: raises the app's fence, so that whatever an earlier worker still writes is refused.
 *
 * @returns `null` when there is nothing left to do: the build is finished, or its app is gone or being deleted
 * @throws {DeploymentIsLeased}
 */
export async function claimDeployment(em: EntityManager, buildId: string): Promise<ClaimedDeployment | null> {
  return em.fork().transactional(async (tx) => {
    const build = await tx.findOne(Build, { id: buildId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (build === null || build.outcome !== null) return null;
    const app = await tx.findOne(App, { id: build.appId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (app === null || !(IN_PROGRESS as readonly string[]).includes(app.status)) return null;
    if (build.heldAt && Date.now() - build.heldAt.getTime() < LEASE_MS)
      throw new DeploymentIsLeased(`build ${buildId} is held by another worker`);
    build.heldAt = new Date();
    build.attempts += 1;
    app.fence += 1;
    app.status = "queued";
    const { repo, branch, customization } = build;
    return {
      buildId,
      appId: app.id,
      orgId: app.orgId,
      slug: app.slug,
      tokenVersion: app.tokenVersion,
      repo,
      branch,
      customization: customization ?? null,
      attempt: build.attempts,
      fence: app.fence,
    };
  });
}
