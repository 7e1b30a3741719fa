import { defineEntity, p } from "@mikro-orm/core";

/** How much an app stored when it was last measured. A table of its own, because a change of `apps` invalidates caches. */
export const AppStorageRecordSchema = defineEntity({
  name: "AppStorageRecord",
  tableName: "app_storage",
  properties: {
    appId: p.uuid().primary(),
    sqlBytes: p.bigint("string"),
    keyValueBytes: p.bigint("string"),
    objectBytes: p.bigint("string"),
    durableBytes: p.bigint("string"),
    totalBytes: p.bigint("string"),
    measuredAt: p.datetime(3),
  },
});

export class AppStorageRecord extends AppStorageRecordSchema.class {}
AppStorageRecordSchema.setClass(AppStorageRecord);
