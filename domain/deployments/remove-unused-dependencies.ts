import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import type { DependencyCache } from "../ports/dependency-cache.ts";

export interface UnusedDependenciesDeps {
  em: EntityManager;
  dependencies: DependencyCache;
}

/**
 * Removes the stored dependencies of those organizations that have no app any more. An app is recorded before its build
 * stores anything, so an organization without an app is not about to store something.
 *
 * @param organizationIds - the organizations that may have stored dependencies
 * @returns the organizations whose dependencies were removed
 */
export async function removeUnusedDependencies(
  { em, dependencies }: UnusedDependenciesDeps,
  organizationIds: readonly string[],
): Promise<string[]> {
  const unused: string[] = [];
  for (const orgId of organizationIds) {
    if ((await em.fork().count(App, { orgId })) > 0) continue;
    await dependencies.remove(orgId);
    unused.push(orgId);
  }
  return unused;
}
