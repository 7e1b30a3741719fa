import { App } from "../apps/app.entity.ts";
import type { Db } from "../database-types.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { StoredApp } from "../ports/app-storage.ts";
import { type MeasureDeps, measureStorage } from "./measure-storage.ts";
import { judgeStorage } from "./storage-rules.ts";

export interface EnforceDeps extends MeasureDeps {
  db: Db;
  changes: ChangeFeed;
  /** Reports an app that could not be measured or restricted. The next call tries again. */
  report(error: unknown, app: StoredApp): void;
}

/**
 * Measures the apps that may have changed, stops those beyond the bound of their plan, and lets those serve that are
 * within it again. The edge platform changes first and the record of the app second: after a crash between the two, the
 * next call finds the difference.
 *
 * @param signal - ends the call between two apps
 */
export async function enforceStorage(deps: EnforceDeps, signal: AbortSignal): Promise<void> {
  for (const app of await deps.storage.listChanged()) {
    if (signal.aborted) return;
    await measureStorage(deps, app).catch((error: unknown) => deps.report(error, app));
  }
  for (const row of await selectJudgedApps(deps)) {
    if (signal.aborted) return;
    const app = { appId: row.id, slug: row.slug };
    await enforceBound(deps, row).catch((error: unknown) => deps.report(error, app));
  }
}

/** The apps that may be beyond their bound, and those that were. */
function selectJudgedApps({ db, plans }: EnforceDeps) {
  return db
    .selectFrom("apps")
    .innerJoin("organizations", "organizations.id", "apps.org_id")
    .innerJoin("app_storage", "app_storage.app_id", "apps.id")
    .select(["apps.id", "apps.org_id", "apps.slug", "apps.storage_problem"])
    .select(["organizations.plan", "app_storage.total_bytes"])
    .where("apps.status", "<>", "deleting")
    .where(({ or, eb }) =>
      or([
        eb("app_storage.total_bytes", ">", String(plans.smallestStorageBytes)),
        eb("apps.storage_problem", "is not", null),
      ]),
    )
    .execute();
}

type JudgedApp = Awaited<ReturnType<typeof selectJudgedApps>>[number];

async function enforceBound({ em, plans, storage, changes }: EnforceDeps, row: JudgedApp): Promise<void> {
  const { restriction, problem } = judgeStorage(
    Number(row.total_bytes),
    plans.getLimits(row.plan),
    plans.resolveName(row.plan),
  );
  await storage.restrict({ appId: row.id, slug: row.slug }, restriction);
  if (problem === row.storage_problem) return;
  await em.fork().nativeUpdate(App, { id: row.id }, { storageProblem: problem });
  changes.announce(row.org_id);
}
