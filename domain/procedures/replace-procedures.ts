import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import { Procedure } from "./procedure.entity.ts";

/** Bounds the size of one statement, because a schema can be large. */
const ROWS_PER_INSERT = 50;

/** Replaces all procedures of a deployment, within the caller's transaction. */
export async function replaceProcedures(
  em: EntityManager,
  { deploymentId, appId, orgId }: { deploymentId: string; appId: string; orgId: string },
  procedures: readonly DiscoveredProcedure[],
): Promise<void> {
  await removeProcedures(em, { deploymentId });
  const rows = procedures.map((procedure) => ({ id: randomUUID(), deploymentId, appId, orgId, ...procedure }));
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT)
    await em.insertMany(Procedure, rows.slice(at, at + ROWS_PER_INSERT));
}

/** Removes the procedures of one deployment, or of all deployments of an app, within the caller's transaction. */
export async function removeProcedures(
  em: EntityManager,
  owner: { deploymentId: string } | { appId: string },
): Promise<void> {
  await em.nativeDelete(Procedure, owner);
}
