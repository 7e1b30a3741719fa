import type { EntityData, EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { type AppStatus, sourcesOf } from "../apps/app-status.ts";
import { Superseded } from "./lease.ts";

/**
 * Moves an app to another status, in one conditional update: it is refused when the transition is not in the table or
 * when the fence has been raised by somebody else since.
 *
 * @throws {Superseded}
 */
export async function transitionApp(
  em: EntityManager,
  app: { appId: string; fence: number },
  to: AppStatus,
  changes: EntityData<App> = {},
): Promise<void> {
  const where = { id: app.appId, fence: app.fence, status: { $in: sourcesOf(to) } };
  const moved = await em.nativeUpdate(App, where, { ...changes, status: to, updatedAt: new Date() });
  if (moved === 0) throw new Superseded();
}
