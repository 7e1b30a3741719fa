import type { EntityManager } from "@mikro-orm/core";
import { Organization } from "../organizations/organization.entity.ts";
import type { Plans } from "../plans/plans.ts";
import type { AppDatabase } from "../ports/app-databases.ts";
import type { AppEntries, EntryStore } from "../ports/app-entries.ts";
import type { StoredApp } from "../ports/app-storage.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError, type ErrorCode } from "../shared/errors.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { readDatabase, type ReadDatabaseDeps } from "./read-database.ts";

export interface GetStorageDeps extends ReadDatabaseDeps {
  em: EntityManager;
  appEntries: AppEntries;
  plans: Plans;
}

export interface GetStorage {
  /** The id of the app. */
  id: string;
  /** One of the names of its databases; without it, the one that it uses by default. */
  database?: string | undefined;
}

export interface StorageView {
  /** How many bytes the app may store. */
  limit_bytes: number;
  /** What it stored when it was measured last; `null` before the first time. */
  used: MeasuredStorage | null;
  /** `null` if the app has no SQL database, or it cannot be read. */
  database: AppDatabase | null;
  /** Why the database cannot be read. */
  database_problem: string | null;
  /** The key-value namespaces and object buckets that the app declares. */
  stores: EntryStore[];
}

interface MeasuredStorage {
  total_bytes: number;
  sql_bytes: number;
  key_value_bytes: number;
  object_bytes: number;
  durable_bytes: number;
  measured_at: string;
}

/**
 * Returns what an app stores, the tables of one of its databases, and its namespaces and buckets. Their names are data of the
 * app.
 *
 * @throws {ServiceError} `not_found` for an unknown database; otherwise as `readDatabase`
 */
export async function getStorage(
  deps: GetStorageDeps,
  caller: Caller,
  { id, database }: GetStorage,
  signal: AbortSignal,
): Promise<StorageView> {
  const describe = async (app: StoredApp) => ({
    ...(await describeDatabase(deps, app, database ?? null, signal)),
    stores: await deps.appEntries.listStores(app),
  });
  const described = await readDatabase(deps, caller, id, describe, signal);
  const { plan } = await deps.em.fork().findOneOrFail(Organization, { id: caller.orgId });
  return {
    limit_bytes: deps.plans.getLimits(plan).storageBytes,
    used: await readMeasured(deps, id),
    ...described,
  };
}

/** An app whose database cannot be read has the rest nevertheless. */
const PROBLEMS: readonly ErrorCode[] = ["conflict", "unavailable", "invalid"];

async function describeDatabase(
  { appDatabases }: GetStorageDeps,
  app: StoredApp,
  name: string | null,
  signal: AbortSignal,
): Promise<Pick<StorageView, "database" | "database_problem">> {
  try {
    return { database: await appDatabases.describe(app, name, signal), database_problem: null };
  } catch (error) {
    if (!(error instanceof ServiceError) || !PROBLEMS.includes(error.code)) throw error;
    return { database: null, database_problem: error.message };
  }
}

async function readMeasured({ db }: GetStorageDeps, appId: string): Promise<MeasuredStorage | null> {
  const row = await db.selectFrom("app_storage").selectAll().where("app_id", "=", appId).executeTakeFirst();
  if (row === undefined) return null;
  return {
    total_bytes: Number(row.total_bytes),
    sql_bytes: Number(row.sql_bytes),
    key_value_bytes: Number(row.key_value_bytes),
    object_bytes: Number(row.object_bytes),
    durable_bytes: Number(row.durable_bytes),
    measured_at: toIsoTimestamp(row.measured_at),
  };
}
