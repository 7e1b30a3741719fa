import type { EntityManager } from "@mikro-orm/core";
import { ServiceError } from "../shared/errors.ts";
import { keyedHashHex } from "../shared/keyed-hash.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { App } from "./app.entity.ts";
import { IdempotencyKey } from "./idempotency-key.entity.ts";

/** How long a key is stored, in hours. */
export const KEY_TTL_HOURS = 24;

const KEY_FORMAT = /^[\x21-\x7e]{1,255}$/;

/** @throws {ServiceError} `invalid` for a key that is not 1 to 255 printable ASCII characters without spaces */
export function checkIdempotencyKey(key: string): void {
  if (KEY_FORMAT.test(key)) return;
  throw new ServiceError(
    "invalid",
    "Idempotency-Key must have 1 to 255 printable ASCII characters without spaces, such as a UUID.",
  );
}

/** A request with a key, which makes repeating it safe. */
export interface RepeatableRequest {
  orgId: string;
  key: string;
  /** Everything that the caller chose. */
  request: object;
  /** Protects what is stored of the request. */
  tokenSecret: string;
}

/** Whether the organization has used this key before. Repeating such a call does not count against the deploy limit. */
export async function isKnownKey(em: EntityManager, orgId: string, key: string): Promise<boolean> {
  return (await em.count(IdempotencyKey, { orgId, key })) > 0;
}

/**
 * What an earlier call with this key created; `null` for a new key.
 *
 * @throws {ServiceError} `key_reused` when the earlier call was a different request
 */
export async function findByKey(em: EntityManager, call: RepeatableRequest): Promise<IdempotencyKey | null> {
  const { orgId, key } = call;
  const earlier = await em.findOne(IdempotencyKey, { orgId, key });
  if (earlier === null || isSameRequest(earlier, call)) return earlier;
  throw new ServiceError(
    "key_reused",
    "This Idempotency-Key was used for a different request. Use a new key for a new request.",
  );
}

/**
 * The app that an earlier call with this key created; `null` for a new key.
 *
 * @throws {ServiceError} `key_reused` when the earlier call was a different request; `conflict` when its app is gone
 */
export async function findAppByKey(em: EntityManager, call: RepeatableRequest): Promise<App | null> {
  const earlier = await findByKey(em, call);
  if (earlier === null) return null;
  const app = await em.findOne(App, { id: earlier.appId, orgId: call.orgId });
  if (app === null)
    throw new ServiceError(
      "conflict",
      "The app made with this Idempotency-Key was deleted. Use a new key to deploy again.",
    );
  return app;
}

/** Stores the key with the app and its newest deployment, which the request created, in the transaction of `em`. */
export function storeIdempotencyKey(em: EntityManager, call: RepeatableRequest, app: App): void {
  const { id: appId, latestDeploymentId: deploymentId } = app;
  em.create(IdempotencyKey, {
    orgId: call.orgId,
    key: call.key,
    appId,
    deploymentId,
    fingerprint: fingerprintOf(call),
  });
}

function isSameRequest({ fingerprint }: IdempotencyKey, call: RepeatableRequest): boolean {
  // Earlier versions of the service stored a plain hash of requests, which had no secrets yet.
  return fingerprint === fingerprintOf(call) || fingerprint === sha256Hex(serialize(call));
}

function fingerprintOf(call: RepeatableRequest): string {
  return keyedHashHex(call.tokenSecret, "idempotency-keys", serialize(call));
}

function serialize({ request }: RepeatableRequest): string {
  return JSON.stringify(Object.entries(request).toSorted());
}
