import { defineEntity, p } from "@mikro-orm/core";

/** The installation to which a database belongs, when its processes have no data folder in common. One row. */
const InstallationRecordSchema = defineEntity({
  name: "InstallationRecord",
  tableName: "installation_records",
  properties: {
    /** Always 1. */
    key: p.integer().primary(),
    id: p.uuid(),
    /** Higher after each time that a copy has taken over. */
    epoch: p.integer(),
    /** The database with the row. In another database, the row is a copy. */
    database: p.text(),
  },
});

export class InstallationRecord extends InstallationRecordSchema.class {}
InstallationRecordSchema.setClass(InstallationRecord);
