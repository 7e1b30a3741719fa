import type { ObjectStore } from "../../domain/ports/object-store.ts";
import { parseJson } from "../../domain/shared/json.ts";
import { type Ownership, type OwnerRecord, ownerSchema } from "./ownership.ts";

/** The bucket in which an object store names its installation. The sweep removes only buckets of apps. */
export const OWNER_BUCKET = "installation";
const KEY = "owner.json";

/** Names the owner of an object store in one of its objects. */
export function ownerOfObjects(objects: Pick<ObjectStore, "get" | "put">): OwnerRecord {
  return {
    things: "objects",
    setting: "S3_PREFIX",
    async read() {
      const bytes = await objects.get(OWNER_BUCKET, KEY);
      return bytes === null ? null : ownerSchema.parse(parseJson(Buffer.from(bytes).toString("utf8")));
    },
    write: (owner) => objects.put(OWNER_BUCKET, KEY, Buffer.from(JSON.stringify(owner))),
  };
}

/** An object store that this process can change only while it belongs to its installation. */
export function guardObjects(objects: ObjectStore, ownership: Pick<Ownership, "require">): ObjectStore {
  return {
    get: (bucket, key) => objects.get(bucket, key),
    read: (bucket, key, range) => objects.read(bucket, key, range),
    list: (bucket) => objects.list(bucket),
    listBuckets: () => objects.listBuckets(),
    async put(bucket, key, body, options) {
      await ownership.require();
      await objects.put(bucket, key, body, options);
    },
    async remove(bucket, key) {
      await ownership.require();
      await objects.remove(bucket, key);
    },
    async removeBucket(bucket) {
      await ownership.require();
      await objects.removeBucket(bucket);
    },
  };
}
