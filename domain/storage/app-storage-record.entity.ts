import { defineEntity, p } from "@mikro-orm/core";

/** How much an app stored when it was last measured. A table of its own, because a change of `apps` invalidates caches. */
export const AppStorageRecordSchema = defineEntity({
  name: "AppStorageRecord",
  tableName: "app_storage",
  properties: {
    appId: p.uuid().primary(),
    sqlBytes: p.bigint("number"),
    keyValueBytes: p.bigint("number"),
    objectBytes: p.bigint("number"),
    durableBytes: p.bigint("number"),
    totalBytes: p.bigint("number"),
    measuredAt: p.datetime(3),
  },
});

export class AppStorageRecord extends AppStorageRecordSchema.class {}
AppStorageRecordSchema.setClass(AppStorageRecord);
