import { randomUUID } from "node:crypto";
import type { Db } from "../database-types.ts";
import type { ObjectStore } from "../ports/object-store.ts";

/** The bucket of exports whose apps have not been live yet. */
export const IMPORT_BUCKET = "app-imports";

/** An object without an app is of an import in progress for this long at most, in milliseconds. */
const IMPORT_MS = 3_600_000;

/** Returns a key for a new object. It contains the time, so that the sweep can tell an import in progress from one that was lost. */
export function newImportKey(orgId: string): string {
  return `${orgId}/${Date.now()}-${randomUUID()}`;
}

/** Removes the exports that no app needs any more: it is live or deleted, or a crash came before it was recorded. */
export async function removeLostImports({ db, objects }: { db: Db; objects: ObjectStore }): Promise<number> {
  const before = Date.now() - IMPORT_MS;
  const stored = (await objects.list(IMPORT_BUCKET)).map(({ key }) => key);
  const rows = await db.selectFrom("apps").select("import_key").where("import_key", "is not", null).execute();
  const known = new Set(rows.map(({ import_key: key }) => key));
  const lost = stored.filter((key) => !known.has(key) && Number(/\/(\d+)-[^/]*$/.exec(key)?.[1] ?? 0) < before);
  for (const key of lost) await objects.remove(IMPORT_BUCKET, key);
  return lost.length;
}
