import { defineEntity, p } from "@mikro-orm/core";

/** A tar archive with the source code of apps, which one organization has uploaded. */
export const ArchiveSchema = defineEntity({
  name: "Archive",
  tableName: "archives",
  properties: {
    orgId: p.uuid().primary(),
    /** The SHA-256 of its bytes, in hex. */
    id: p.string().length(64).primary(),
    /** Where it is in the bucket of all archives. */
    objectKey: p.string(),
    /** Of the archive itself, in bytes. */
    size: p.integer(),
    /** Of all its files, in bytes. */
    unpackedSize: p.integer(),
    fileCount: p.integer(),
    createdBy: p.uuid().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    /** When it was uploaded or deployed last. */
    lastUsedAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [{ properties: ["lastUsedAt"] }],
});

export class Archive extends ArchiveSchema.class {}
ArchiveSchema.setClass(Archive);
