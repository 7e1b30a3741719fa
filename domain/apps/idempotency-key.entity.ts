import { defineEntity, p } from "@mikro-orm/core";

/** A used `Idempotency-Key`, with the app and the deployment that its request created. */
const IdempotencyKeySchema = defineEntity({
  name: "IdempotencyKey",
  tableName: "idempotency_keys",
  properties: {
    orgId: p.uuid().primary(),
    key: p.string().primary(),
    /** A keyed hash of the first request with this key, because a request can contain secrets. */
    fingerprint: p.string(),
    appId: p.uuid(),
    /** `null` for a key that is older than the table of deployments. */
    deploymentId: p.uuid().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [{ properties: ["createdAt"] }],
});

export class IdempotencyKey extends IdempotencyKeySchema.class {}
IdempotencyKeySchema.setClass(IdempotencyKey);
