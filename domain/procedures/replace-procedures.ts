import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import { changeIndex, type IndexedProcedure, readIndexed } from "./indexed-procedures.ts";
import { clearIndexIds, storeIndexIds } from "./index-ids.ts";
import { isLive } from "./list-procedures.ts";
import { Procedure } from "./procedure.entity.ts";

/** Bounds the size of one statement, because a schema can be large. */
const ROWS_PER_INSERT = 50;

interface ProcedureOwner {
  deploymentId: string;
  appId: string;
  orgId: string;
}

/**
 * Replaces all procedures of a deployment, within the caller's transaction. If the deployment is live, the search finds them
 * when the transaction commits, and none of an earlier deployment. The app must be locked.
 */
export async function replaceProcedures(
  em: EntityManager,
  { deploymentId, appId, orgId }: ProcedureOwner,
  procedures: readonly DiscoveredProcedure[],
): Promise<void> {
  const tx = queryBuilderOf(em as SqlEntityManager);
  await removeProcedures(em, { deploymentId });
  const indexIds = await indexLive(tx, { deploymentId, appId, orgId }, procedures);
  const rows = procedures.map((procedure, at) => ({
    id: randomUUID(),
    deploymentId,
    appId,
    orgId,
    ...procedure,
    indexId: indexIds?.[at] ?? null,
  }));
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT)
    await em.insertMany(Procedure, rows.slice(at, at + ROWS_PER_INSERT));
}

/** Removes the procedures of one deployment, or of all deployments of an app, within the caller's transaction. */
export async function removeProcedures(
  em: EntityManager,
  owner: { deploymentId: string } | { appId: string },
): Promise<void> {
  const tx = queryBuilderOf(em as SqlEntityManager);
  const removed = await readIndexed(tx, owner);
  await em.nativeDelete(Procedure, owner);
  await removeFromSearch(tx, removed);
}

/** Makes the search not find the procedures of an app, within the caller's transaction. The app must be locked. */
export async function hideProcedures(em: EntityManager, appId: string): Promise<void> {
  const tx = queryBuilderOf(em as SqlEntityManager);
  const indexed = await readIndexed(tx, { appId });
  await clearIndexIds(tx, appId);
  await removeFromSearch(tx, indexed);
}

/**
 * Makes the search find the procedures of an app by its new name, within the caller's transaction. The app must be locked, and
 * its row must have the name before.
 */
export async function renameInIndex(em: EntityManager, appId: string, app: string): Promise<void> {
  const tx = queryBuilderOf(em as SqlEntityManager);
  const indexed = await readIndexed(tx, { appId });
  await clearIndexIds(tx, appId);
  for (const [orgId, removed] of Map.groupBy(indexed, (procedure) => procedure.orgId)) {
    const added = removed.map((procedure) => ({ ...procedure, app }));
    await storeIndexIds(tx, added, await changeIndex(tx, orgId, { removed, added }));
  }
}

async function removeFromSearch(tx: Db, procedures: readonly IndexedProcedure[]): Promise<void> {
  for (const [orgId, removed] of Map.groupBy(procedures, (procedure) => procedure.orgId))
    await changeIndex(tx, orgId, { removed, added: [] });
}

/** @returns `null` when the deployment is not live */
async function indexLive(
  tx: Db,
  { deploymentId, appId, orgId }: ProcedureOwner,
  procedures: readonly DiscoveredProcedure[],
): Promise<number[] | null> {
  const app = await tx
    .selectFrom("apps")
    .select(["name as app", "slug"])
    .where("id", "=", appId)
    .where("org_id", "=", orgId)
    .where("live_deployment_id", "=", deploymentId)
    .where(isLive)
    .executeTakeFirst();
  if (app === undefined) return null;
  const removed = await readIndexed(tx, { appId });
  await clearIndexIds(tx, appId);
  return await changeIndex(tx, orgId, { removed, added: procedures.map((procedure) => ({ ...procedure, ...app })) });
}
