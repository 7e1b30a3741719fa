import { type EntityManager, LockMode } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { Organization } from "../organizations/organization.entity.ts";
import type { Plans } from "../plans/plans.ts";
import type { AppStorage, StoredApp } from "../ports/app-storage.ts";
import { inTransaction } from "../shared/transaction.ts";
import { AppStorageRecord } from "./app-storage-record.entity.ts";
import { OWNER_FACTOR } from "./storage-rules.ts";

export interface MeasureDeps {
  em: EntityManager;
  plans: Plans;
  storage: AppStorage;
}

/** Measures one app and records the result. Does nothing for an app that is gone or is being deleted. */
export async function measureStorage({ em, plans, storage }: MeasureDeps, stored: StoredApp): Promise<void> {
  const { appId } = stored;
  const app = await em.fork().findOne(App, { id: appId }, { fields: ["orgId"] });
  if (app === null) return;
  const { plan } = await em.fork().findOneOrFail(Organization, { id: app.orgId });
  // The result decides only whether the app stores more than its bound, or more than this.
  const bytes = await storage.measure(stored, plans.getLimits(plan).storageBytes * OWNER_FACTOR + 1);
  await inTransaction(em, async (tx) => {
    // With the lock, no teardown removes the records of the app meanwhile.
    const locked = await tx.findOne(App, { id: appId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (locked === null || locked.status === "deleting") return;
    await tx.upsert(AppStorageRecord, {
      appId,
      sqlBytes: String(bytes.sql),
      keyValueBytes: String(bytes.keyValue),
      objectBytes: String(bytes.objects),
      durableBytes: String(bytes.durable),
      totalBytes: String(bytes.sql + bytes.keyValue + bytes.objects + bytes.durable),
      measuredAt: new Date(),
    });
  });
}
