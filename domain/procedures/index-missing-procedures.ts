import type { Db } from "../database-types.ts";
import { clearIndexIds, storeIndexIds } from "./index-ids.ts";
import { changeIndex, readIndexed, readSearchable } from "./indexed-procedures.ts";
import { isLive } from "./list-procedures.ts";

interface LiveApp {
  id: string;
  orgId: string;
  deploymentId: string;
}

const APPS_PER_QUERY = 100;

/**
 * Adds the procedures of live apps to the search index that are not in it: those that a version of the service without this
 * index has stored. Each app is one transaction, so the next call continues what one has left. Several processes may do so at
 * the same time.
 *
 * @param report - called for an app whose procedures could not be added
 */
export async function indexMissingProcedures(
  db: Db,
  { signal, report }: { signal: AbortSignal; report: (error: unknown) => void },
): Promise<void> {
  let after: string | null = null;
  while (!signal.aborted) {
    const apps: string[] = await findApps(db, after);
    for (const appId of apps) {
      if (signal.aborted) break;
      try {
        await db.transaction().execute((tx) => indexApp(tx, appId));
      } catch (error) {
        report(error);
      }
    }
    after = apps.at(-1) ?? null;
    if (after === null) break;
  }
}

function selectMissing(db: Db) {
  return db
    .selectFrom("apps")
    .where(isLive)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("app_procedures")
          .select("app_procedures.id")
          .whereRef("app_procedures.deployment_id", "=", "apps.live_deployment_id")
          .where("app_procedures.index_id", "is", null),
      ),
    );
}

async function findApps(db: Db, after: string | null): Promise<string[]> {
  const rows = await selectMissing(db)
    .select("apps.id")
    .$if(after !== null, (query) => query.where("apps.id", ">", after ?? ""))
    .orderBy("apps.id")
    .limit(APPS_PER_QUERY)
    .execute();
  return rows.map(({ id }) => id);
}

/** Does nothing while another process changes the app. */
async function indexApp(tx: Db, appId: string): Promise<void> {
  const app = (await selectMissing(tx)
    .select(["apps.id", "apps.org_id as orgId", "apps.live_deployment_id as deploymentId"])
    .where("apps.id", "=", appId)
    .forUpdate("apps")
    .skipLocked()
    .executeTakeFirst()) as LiveApp | undefined;
  if (app === undefined) return;
  const removed = await readIndexed(tx, { appId });
  const added = await readSearchable(tx, app.deploymentId);
  await clearIndexIds(tx, appId);
  await storeIndexIds(tx, added, await changeIndex(tx, app.orgId, { removed, added }));
}
