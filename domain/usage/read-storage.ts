import type { Db } from "../database-types.ts";

export interface StorageUsage {
  /** How many bytes each app may store. */
  limit_bytes_per_app: number;
  /** The sum of all apps of the organization. */
  total_bytes: number;
  /** The apps that store most, at most `MAX_APPS`, largest first. */
  apps: AppStorageUsage[];
}

export interface AppStorageUsage {
  slug: string;
  total_bytes: number;
  /** By kind: `sql`, `key_value`, `objects`, and `durable` for durable objects and workflows. */
  bytes: Record<string, number>;
  /** Whether the app is stopped because it stores too much. */
  stopped: boolean;
}

const MAX_APPS = 20;

/** Reads what the apps of an organization stored when they were measured last. */
export async function readStorage(db: Db, orgId: string, limitBytes: number): Promise<StorageUsage> {
  const stored = db
    .selectFrom("app_storage")
    .innerJoin("apps", "apps.id", "app_storage.app_id")
    .where("apps.org_id", "=", orgId);
  const { total } = await stored
    .select(({ fn }) => fn.sum<string>("total_bytes").as("total"))
    .executeTakeFirstOrThrow();
  const apps = await stored
    .select(["apps.slug", "apps.storage_problem", "sql_bytes", "key_value_bytes", "object_bytes"])
    .select(["durable_bytes", "total_bytes"])
    .orderBy("total_bytes", "desc")
    .orderBy("apps.slug")
    .limit(MAX_APPS)
    .execute();
  return {
    limit_bytes_per_app: limitBytes,
    total_bytes: Number(total ?? 0),
    apps: apps.map((row) => ({
      slug: row.slug,
      total_bytes: Number(row.total_bytes),
      bytes: {
        sql: Number(row.sql_bytes),
        key_value: Number(row.key_value_bytes),
        objects: Number(row.object_bytes),
        durable: Number(row.durable_bytes),
      },
      stopped: row.storage_problem !== null,
    })),
  };
}
