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
  let id = app?.liveDeploymentId ?? null;
  for (let rollbacks = 0; id !== null && rollbacks < MAX_ROLLBACKS; rollbacks += 1) {
    const deployment: Deployment | null = await em.findOne(Deployment, { id });
    if (deployment === null) return null;
    if (deployment.rollbackToId === null || deployment.rollbackToId === undefined)
      return readStoredChanges(em, deployment);
    id = deployment.rollbackToId;
  }
  return null;
}

export async function readStoredChanges(
  em: EntityManager,
  { id, number }: Pick<Deployment, "id" | "number">,
): Promise<StoredChanges | null> {
  const stored = await em.findOne(Customization, { deploymentId: id });
  if (stored === null) return null;
  return { number, instructions: stored.instructions, changes: JSON.parse(stored.changes) as FileChange[] };
}
