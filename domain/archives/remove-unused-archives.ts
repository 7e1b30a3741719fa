import type { Db } from "../database-types.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { ARCHIVE_LIMITS } from "./archive-limits.ts";
import { ARCHIVE_BUCKET, createdAtOfKey } from "./archive-objects.ts";

export interface RemoveArchivesDeps {
  db: Db;
  objects: ObjectStore;
}

/** Which archives to remove: those of one organization or of all, and how long they have been unused. */
export interface Unused {
  orgId: string | null;
  unusedMs: number;
}

const HOUR_MS = 3_600_000;
/** An object without a record is of an upload in progress for this long at most, in milliseconds. */
const UPLOAD_MS = HOUR_MS;
const BATCH_SIZE = 100;

/**
 * Removes archives that no app, no deployment in progress and no deployment with a kept bundle needs, and objects that a crash has left
 * without a record. A deployment that begins to use an archive meanwhile keeps it, or finds none.
 *
 * @returns how many archives were removed
 */
export async function removeUnusedArchives(
  deps: RemoveArchivesDeps,
  unused: Unused = { orgId: null, unusedMs: ARCHIVE_LIMITS.unusedHours * HOUR_MS },
): Promise<number> {
  for (let removed = 0; ;) {
    const keys = await deleteRecords(deps.db, unused);
    // After the record. If a crash comes between, `removeLostObjects` finds the object.
    for (const key of keys) await deps.objects.remove(ARCHIVE_BUCKET, key);
    removed += keys.length;
    if (keys.length < BATCH_SIZE) return removed;
  }
}

async function deleteRecords(db: Db, { orgId, unusedMs }: Unused): Promise<string[]> {
  const rows = await db
    .with("unused", (query) =>
      query
        .selectFrom("archives as archive")
        .select(["archive.org_id", "archive.id"])
        .where("archive.last_used_at", "<", new Date(Date.now() - unusedMs).toISOString() as never)
        .$if(orgId !== null, (all) => all.where("archive.org_id", "=", orgId ?? ""))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("apps")
                .select("apps.id")
                .whereRef("apps.archive_id", "=", "archive.id")
                .whereRef("apps.org_id", "=", "archive.org_id"),
            ),
          ),
        )
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("deployments")
                .select("deployments.id")
                .whereRef("deployments.archive_id", "=", "archive.id")
                .whereRef("deployments.org_id", "=", "archive.org_id")
                .where(({ or, eb }) => or([eb("finished_at", "is", null), eb("artifact_key", "is not", null)])),
            ),
          ),
        )
        .limit(BATCH_SIZE)
        // A row that a deployment is beginning to use is locked, and has another time when it is not.
        .forUpdate()
        .skipLocked(),
    )
    .deleteFrom("archives")
    .using("unused")
    .whereRef("archives.id", "=", "unused.id")
    .whereRef("archives.org_id", "=", "unused.org_id")
    .returning("archives.object_key")
    .execute();
  return rows.map(({ object_key }) => object_key);
}

/** Removes the objects that a crash has left without a record. */
export async function removeLostArchives({ db, objects }: RemoveArchivesDeps): Promise<number> {
  const before = Date.now() - UPLOAD_MS;
  const stored = await objects.list(ARCHIVE_BUCKET);
  const old = stored.map(({ key }) => key).filter((key) => createdAtOfKey(key) < before);
  const rows = await db.selectFrom("archives").select("object_key").execute();
  const known = new Set(rows.map(({ object_key }) => object_key));
  const lost = old.filter((key) => !known.has(key));
  for (const key of lost) await objects.remove(ARCHIVE_BUCKET, key);
  return lost.length;
}
