import type { EntityManager } from "@mikro-orm/core";
import { App } from "./app.entity.ts";
import { WITHOUT_PLAN_SLOT } from "./app-status.ts";

/** How many apps of an organization take up room in its plan. */
export function countAppsInPlan(em: EntityManager, orgId: string): Promise<number> {
  return em.count(App, { orgId, status: { $nin: [...WITHOUT_PLAN_SLOT] } });
}
