import { defineEntity, p } from "@mikro-orm/core";

/** A deleted session whose entries are still to be removed. Nothing finds them any more without the session. */
export const DeletedSessionSchema = defineEntity({
  name: "DeletedSession",
  tableName: "deleted_sessions",
  properties: {
    id: p.uuid().primary(),
    deletedAt: p.datetime(3).onCreate(() => new Date()),
  },
});

export class DeletedSession extends DeletedSessionSchema.class {}
DeletedSessionSchema.setClass(DeletedSession);
