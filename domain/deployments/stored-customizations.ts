import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { Customization } from "./customization.entity.ts";
import { Deployment } from "./deployment.entity.ts";
import type { FileChange } from "./source-changes.ts";

/** The changes of an earlier deployment, on which a new one builds. */
export interface StoredChanges {
  /** The number of the deployment. */
  number: number;
  instructions: readonly string[];
  changes: readonly FileChange[];
}

/** A chain of rollbacks is as long as a user makes it, and each of them leads to an earlier deployment. */
const MAX_ROLLBACKS = 1000;

/**
 * Finds the changes that are live: those of the live deployment, or of the one that a live rollback leads to.
 *
 * @returns `null` if the live deployment is the plain repository, or no deployment is live
 */
export async function findLiveChanges(em: EntityManager, appId: string): Promise<StoredChanges | null> {
  const app = await em.findOne(App, { id: appId });
  const customized = await followRollbacks(em, app?.liveDeploymentId ?? null);
  return customized === null ? null : readStoredChanges(em, customized);
}

/** The deployment that built what a deployment serves; `null` if its record is gone. */
async function followRollbacks(em: EntityManager, deploymentId: string | null): Promise<Deployment | null> {
  let id = deploymentId;
  for (let rollbacks = 0; id !== null && rollbacks < MAX_ROLLBACKS; rollbacks += 1) {
    const deployment: Deployment | null = await em.findOne(Deployment, { id });
    if (deployment === null || !deployment.rollbackToId) return deployment;
    id = deployment.rollbackToId;
  }
  return null;
}

/** Records for a deployment that another one of another app changed the source as it does. Safe to repeat. */
export async function copyChanges(
  em: EntityManager,
  { fromId, deploymentId, appId }: { fromId: string; deploymentId: string; appId: string },
): Promise<void> {
  const built = await followRollbacks(em, fromId);
  const stored = built === null ? null : await em.findOne(Customization, { deploymentId: built.id });
  if (stored === null) return;
  const { instructions, changes, summary, steps, inputTokens, outputTokens, durationMs, createdAt } = stored;
  const copied = { instructions, changes, summary, steps, inputTokens, outputTokens, durationMs, createdAt };
  await em.upsert(Customization, { deploymentId, appId, ...copied });
}

export async function readStoredChanges(
  em: EntityManager,
  { id, number }: Pick<Deployment, "id" | "number">,
): Promise<StoredChanges | null> {
  const stored = await em.findOne(Customization, { deploymentId: id });
  if (stored === null) return null;
  return { number, instructions: stored.instructions, changes: JSON.parse(stored.changes) as FileChange[] };
}
