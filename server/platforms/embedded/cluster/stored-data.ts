import type { StoredBytes } from "../../../../domain/ports/app-storage.ts";
import type { DeclaredStore } from "../../shared/worker-bindings.ts";
import { objectId } from "../storage/embedded-app-entries.ts";
import { dataPrefix } from "./bucket-layout.ts";
import type { SharedBucket } from "./shared-bucket.ts";
import { BLOB_FOLDERS, UNIQUE_KEYS } from "../workerd/storage-services.ts";

/** Removes what an app stored, without its SQL database. */
export async function removeStoredData(bucket: SharedBucket, databaseId: string): Promise<void> {
  const database = objectId(UNIQUE_KEYS.sql, databaseId);
  for await (const { key } of bucket.list(dataPrefix(databaseId)))
    if (objectOf(key, databaseId) !== database) await bucket.remove(key);
}

/** Measures what an app stores. What the engine needs to recover objects counts too. */
export async function measureStoredData(
  bucket: SharedBucket,
  databaseId: string,
  stores: readonly DeclaredStore[],
): Promise<StoredBytes> {
  const kinds = new Map<string, keyof StoredBytes>([[objectId(UNIQUE_KEYS.sql, databaseId), "sql"]]);
  for (const { kind, storageName } of stores) {
    if (kind === "key_value") kinds.set(objectId(UNIQUE_KEYS.keyValue, storageName), "keyValue");
    else kinds.set(objectId(UNIQUE_KEYS.objects, storageName), "objects");
  }
  const bytes: StoredBytes = { sql: 0, keyValue: 0, objects: 0, durable: 0 };
  const services = `${dataPrefix(databaseId)}v1/services/`;
  for await (const { key, size } of bucket.list(dataPrefix(databaseId))) {
    const object = objectOf(key, databaseId);
    if (object !== null) bytes[kinds.get(object) ?? "durable"] += size;
    else if (key.startsWith(`${services}${BLOB_FOLDERS.keyValue}/`)) bytes.keyValue += size;
    else if (key.startsWith(`${services}${BLOB_FOLDERS.objects}/`)) bytes.objects += size;
  }
  return bytes;
}

/** The ids of the durable objects that an app has stored. */
export async function listStoredObjects(bucket: SharedBucket, databaseId: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { key } of bucket.list(`${dataPrefix(databaseId)}v1/do/`)) {
    const id = objectOf(key, databaseId);
    if (id !== null) ids.add(id);
  }
  return ids;
}

/** The id of the durable object to which a key belongs; `null` for other keys. */
function objectOf(key: string, databaseId: string): string | null {
  const [kind, , id] = key.slice(`${dataPrefix(databaseId)}v1/`.length).split("/");
  return kind === "do" ? (id ?? null) : null;
}
