import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import type { Db } from "../database-types.ts";
import type { PlanLimits, Plans } from "../plans/plans.ts";
import type { AppStorage, StorageRestriction, StoredApp, StoredBytes } from "../ports/app-storage.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";

export interface EnforceDeps {
  em: EntityManager;
  db: Db;
  plans: Plans;
  storage: AppStorage;
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

/** Measures one app and records the result. Does nothing for an app that is gone or is being deleted. */
async function measureStorage({ db, plans, storage }: EnforceDeps, app: StoredApp): Promise<void> {
  const organization = await db
    .selectFrom("apps")
    .innerJoin("organizations", "organizations.id", "apps.org_id")
    .select("organizations.plan")
    .where("apps.id", "=", app.appId)
    .executeTakeFirst();
  if (organization === undefined) return;
  // The result decides only whether the app stores more than its bound, or more than this.
  const stopAtBytes = plans.getLimits(organization.plan).storageBytes * OWNER_FACTOR + 1;
  await recordStorage(db, app.appId, await storage.measure(app, stopAtBytes));
}

/** With the lock on the app, no teardown removes its records meanwhile. */
async function recordStorage(db: Db, appId: string, bytes: StoredBytes): Promise<void> {
  const sizes = {
    sql_bytes: bytes.sql,
    key_value_bytes: bytes.keyValue,
    object_bytes: bytes.objects,
    durable_bytes: bytes.durable,
    total_bytes: bytes.sql + bytes.keyValue + bytes.objects + bytes.durable,
  };
  const columns = [...(Object.keys(sizes) as (keyof typeof sizes)[]), "measured_at" as const];
  await db
    .insertInto("app_storage")
    .columns(["app_id", ...columns])
    .expression((query) =>
      query
        .selectFrom("apps")
        .select(({ cast, val }) => [
          "apps.id",
          ...Object.entries(sizes).map(([name, size]) => cast<string>(val(size), "bigint").as(name)),
          cast<Date>(val(new Date()), "timestamptz").as("measured_at"),
        ])
        .where("apps.id", "=", appId)
        .where("apps.status", "<>", "deleting")
        .forUpdate(),
    )
    .onConflict((conflict) =>
      conflict
        .column("app_id")
        .doUpdateSet(({ ref }) => Object.fromEntries(columns.map((name) => [name, ref(`excluded.${name}`)]))),
    )
    .execute();
}

/**
 * An app beyond its bound serves requests with its token, so that its owner can delete data. The owner could also add
 * data, so an app beyond this multiple of its bound serves no requests.
 */
const OWNER_FACTOR = 2;

interface StorageState {
  /** For the clients of the app; `null` when the app is within its bound. */
  restriction: StorageRestriction | null;
  /** For the owner of the app; `null` when the app is within its bound. */
  problem: string | null;
}

/**
 * Decides what an app that stores `totalBytes` serves. The texts do not contain the size, which changes with each
 * measurement.
 *
 * @param planName - the name of the plan of its organization
 */
export function judgeStorage(
  totalBytes: number,
  { storageBytes }: Pick<PlanLimits, "storageBytes">,
  planName: string,
): StorageState {
  if (totalBytes <= storageBytes) return { restriction: null, problem: null };
  const bound = `the ${formatMebibytes(storageBytes)} that the plan "${planName}" allows for an app`;
  if (totalBytes > storageBytes * OWNER_FACTOR)
    return {
      restriction: {
        servesOwner: false,
        message: "This app is stopped because it stores more than twice the data that its plan allows.",
      },
      problem: `The app is stopped because it stores more than twice ${bound}. Move to a larger plan, or delete the app.`,
    };
  return {
    restriction: {
      servesOwner: true,
      message: "This app is stopped because it stores more data than its plan allows. Its owner can delete data.",
    },
    problem: `The app is stopped because it stores more than ${bound}. Only requests with the app token are served. Delete data with them, or move to a larger plan; the app serves again within a minute.`,
  };
}

function formatMebibytes(bytes: number): string {
  return `${Math.floor(bytes / (1024 * 1024)).toLocaleString("en-US")} MiB`;
}
