import { defineEntity, p } from "@mikro-orm/core";

/** A used `Idempotency-Key`, and the app that its request created. */
const IdempotencyKeySchema = defineEntity({
  name: "IdempotencyKey",
  tableName: "idempotency_keys",
  properties: {
    orgId: p.uuid().primary(),
    key: p.string().primary(),
    /** SHA-256 of the first request with this key, in hex. */
    fingerprint: p.string(),
    appId: p.uuid(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [{ properties: ["createdAt"] }],
});

export class IdempotencyKey extends IdempotencyKeySchema.class {}
IdempotencyKeySchema.setClass(IdempotencyKey);
