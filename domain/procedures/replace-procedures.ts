import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import { Procedure } from "./procedure.entity.ts";

/** One statement of rows; a schema may be large. */
const ROWS_PER_INSERT = 50;

/** Makes `procedures` all that the app offers, within the caller's transaction. */
export async function replaceProcedures(
  em: EntityManager,
  app: { appId: string; orgId: string },
  procedures: readonly DiscoveredProcedure[],
): Promise<void> {
  await removeProcedures(em, app.appId);
  const { appId, orgId } = app;
  const rows = procedures.map((procedure) => ({ id: randomUUID(), appId, orgId, ...procedure }));
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT)
    await em.insertMany(Procedure, rows.slice(at, at + ROWS_PER_INSERT));
}

/** Within the caller's transaction. Succeeds when there are none. */
export async function removeProcedures(em: EntityManager, appId: string): Promise<void> {
  await em.nativeDelete(Procedure, { appId });
}
