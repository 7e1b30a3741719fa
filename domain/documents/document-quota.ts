import type { Db } from "../database-types.ts";
import type { PlanLimits, Plans } from "../plans/plans.ts";
import { ServiceError } from "../shared/errors.ts";

/** What the documents of an organization use, in Company Knowledge and all projects. */
export interface DocumentUsage {
  documents: number;
  /** The texts of all kept versions in UTF-8, as `countedBytes` counts them. */
  bytes: number;
}

export interface DocumentQuota {
  /** The name of the plan. */
  plan: string;
  limits: Pick<PlanLimits, "documents" | "documentBytes">;
  used: DocumentUsage;
}

const MEBIBYTE = 1024 * 1024;

/**
 * What a term in the search index counts as text: a row takes about 110 bytes in the database, and the tables may take 20 times what
 * the plan counts.
 */
const BYTES_OF_INDEX_ROW = 6;

/** What a document counts in the plan: its text, or a part of its index if that is more. */
export function countedBytes({ storedBytes, indexRows }: { storedBytes: number; indexRows: number }): number {
  return Math.max(storedBytes, indexRows * BYTES_OF_INDEX_ROW);
}

/** Reads what the plan of an organization allows, and what its documents use. */
export async function readDocumentQuota(db: Db, plans: Plans, orgId: string): Promise<DocumentQuota> {
  const row = await db.selectFrom("organizations").select("plan").where("id", "=", orgId).executeTakeFirst();
  return {
    plan: plans.resolveName(row?.plan),
    limits: plans.getLimits(row?.plan),
    used: await measureDocuments(db, orgId),
  };
}

export async function measureDocuments(db: Db, orgId: string): Promise<DocumentUsage> {
  const { documents, bytes } = await db
    .selectFrom("documents")
    .select(({ fn, eb, ref, lit }) => [
      fn.countAll<string>().as("documents"),
      fn
        .sum<string | null>(fn("greatest", [ref("stored_bytes"), eb(ref("index_rows"), "*", lit(BYTES_OF_INDEX_ROW))]))
        .as("bytes"),
    ])
    .where("org_id", "=", orgId)
    .executeTakeFirstOrThrow();
  return { documents: Number(documents), bytes: Number(bytes) };
}

/** @throws {ServiceError} `plan_limit` if the plan does not allow one more document */
export function checkRoomForDocument({ plan, limits, used }: DocumentQuota): void {
  if (used.documents < limits.documents) return;
  throw new ServiceError(
    "plan_limit",
    `The plan "${plan}" allows ${limits.documents} documents and ${used.documents} exist. Delete a document or move to a larger plan.`,
  );
}

/** @throws {ServiceError} `plan_limit` if the plan does not allow so many more bytes of text */
export function checkRoomForText({ plan, limits, used }: DocumentQuota, addedBytes: number): void {
  if (used.bytes + addedBytes <= limits.documentBytes) return;
  throw new ServiceError(
    "plan_limit",
    `The plan "${plan}" allows ${toMebibytes(limits.documentBytes)} MiB of text in documents and their kept versions. ${toMebibytes(used.bytes)} MiB are used, and this text needs ${toMebibytes(addedBytes)} MiB. Delete a document or move to a larger plan.`,
  );
}

/** Returns a size in MiB with at most three significant decimals. */
function toMebibytes(bytes: number): number {
  return Math.round((1000 * bytes) / MEBIBYTE) / 1000;
}
