import { z } from "zod";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { isMissing } from "./cloudflare-error.ts";
import { ensureCreated } from "./ensure-created.ts";

const PATH = "r2/buckets";
const anything = z.unknown();
const objectList = z.array(
  z.object({
    key: z.string(),
    size: z.coerce.number(),
    last_modified: z.string().nullish(),
    http_metadata: z.object({ contentType: z.string().optional() }).nullish(),
  }),
);
const bucketList = z.object({ buckets: z.array(z.object({ name: z.string() })) });
const DELETIONS_AT_ONCE = 8;

export type StoredObject = z.output<typeof objectList>[number];

/** Creates a bucket. Succeeds if it exists. */
export async function ensureBucket(client: CloudflareClient, name: string): Promise<void> {
  const request = { operation: "find a bucket", method: "GET", path: `${PATH}/${name}` } as const;
  await ensureCreated(
    async () => client.call(request, anything).then(() => name, ignoreMissing),
    async () => {
      const creation = { operation: "create a bucket", method: "POST", path: PATH, body: { name } } as const;
      await client.call({ ...creation, isRepeatable: false }, anything);
      return name;
    },
  );
}

/** Lists the names of the buckets that start with `prefix`. */
export async function listBuckets(client: CloudflareClient, prefix: string): Promise<string[]> {
  const query = { name_contains: prefix, per_page: "1000" };
  const request = { operation: "list buckets", method: "GET", path: PATH, query } as const;
  const { buckets } = await client.call(request, bucketList);
  return buckets.map(({ name }) => name).filter((name) => name.startsWith(prefix));
}

/** Removes a bucket with its objects: only empty buckets can be removed. Succeeds if it does not exist. */
export async function removeBucket(client: CloudflareClient, name: string): Promise<void> {
  for (;;) {
    const objects = await listObjects(client, name, { per_page: "1000" }).catch(ignoreMissing);
    if (objects === null) return;
    if (objects.length === 0) break;
    for (let index = 0; index < objects.length; index += DELETIONS_AT_ONCE)
      await Promise.all(
        objects.slice(index, index + DELETIONS_AT_ONCE).map(({ key }) => removeObject(client, name, key)),
      );
  }
  const request = { operation: "remove a bucket", method: "DELETE", path: `${PATH}/${name}` } as const;
  await client.call(request, anything).catch(ignoreMissing);
}

/** Lists one page of objects in the order of their keys. */
export async function listObjects(
  client: CloudflareClient,
  bucket: string,
  query: Record<string, string>,
  signal?: AbortSignal,
): Promise<StoredObject[]> {
  const request = {
    operation: "list objects",
    method: "GET",
    path: `${PATH}/${bucket}/objects`,
    query,
    signal,
  } as const;
  return client.call(request, objectList);
}

/** Returns the content of an object; `null` if it does not exist. */
export async function readObject(
  client: CloudflareClient,
  bucket: string,
  key: string,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  const request = { operation: "read an object", method: "GET", path: objectPath(bucket, key), signal } as const;
  return client.download(request).catch(ignoreMissing);
}

async function removeObject(client: CloudflareClient, bucket: string, key: string): Promise<void> {
  const request = { operation: "remove an object", method: "DELETE", path: objectPath(bucket, key) } as const;
  await client.call(request, anything).catch(ignoreMissing);
}

function objectPath(bucket: string, key: string): string {
  return `${PATH}/${bucket}/objects/${encodeURIComponent(key)}`;
}

function ignoreMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
