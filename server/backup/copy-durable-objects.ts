import { setTimeout as sleep } from "node:timers/promises";
import { inParallel } from "../../domain/shared/in-parallel.ts";
import type { StoredContent } from "./backup-repository.ts";
import { type BucketSource, CONCURRENCY, MAX_ATTEMPTS, storeObject } from "./bucket-source.ts";

/** The first attempts follow at once: right after a snapshot has replaced parts, the next one is furthest away. */
const IMMEDIATE_ATTEMPTS = 10;
const PAUSE_MS = 100;

/**
 * Adds the durable objects of an app (`bucket-layout.ts`), each as at the moment at which its parts were listed. Parts are written once, so a copy
 * is consistent if all listed parts are there until they are copied, and the owner is the same before and after. Otherwise it is
 * repeated: the owner has written a snapshot, which replaces the parts, or another process has become the owner.
 *
 * The copy names an owner whose lease is not in the backup. The engine takes over such an object at once.
 */
export async function copyDurableObjects(source: BucketSource, folder: string): Promise<void> {
  const { bucket } = source;
  for (const name of await bucket.listFolders(folder)) {
    const ids = await bucket.listFolders(`${folder}${name}/`);
    await inParallel(ids, CONCURRENCY, (id) => copyDurableObject(source, `${folder}${name}/${id}/`));
  }
}

async function copyDurableObject(source: BucketSource, folder: string): Promise<void> {
  const { writer, signal } = source;
  const parts = new Map<string, StoredContent>();
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    if (attempt > IMMEDIATE_ATTEMPTS) await sleep(PAUSE_MS, null, { signal });
    const copied = await tryToCopy(source, folder, parts);
    if (copied === null) continue;
    for (const [key, stored] of copied) writer.addSharedObject(key, stored);
    return;
  }
  writer.warn(`${folder}: the database changed too fast to be copied. It is not in the backup.`);
}

/**
 * @param parts - those that an earlier attempt has stored
 * @returns `null` when a part or the owner has changed meanwhile
 */
async function tryToCopy(
  source: BucketSource,
  folder: string,
  parts: Map<string, StoredContent>,
): Promise<Map<string, StoredContent> | null> {
  const { bucket, writer } = source;
  const ownerKey = `${folder}own.json`;
  const owner = await bucket.read(ownerKey);
  const keys = new Set<string>();
  for await (const { key } of bucket.list(folder)) if (key !== ownerKey) keys.add(key);
  let isComplete = true;
  await inParallel(keys, CONCURRENCY, async (key) => {
    if (parts.has(key) || !isComplete) return;
    const stored = await storeObject(source, key);
    if (stored === null) isComplete = false;
    else parts.set(key, stored);
  });
  if (!isComplete) return null;
  const current = await bucket.read(ownerKey);
  if (owner?.bytes.toString() !== current?.bytes.toString()) return null;
  const copied = new Map(parts.entries().filter(([key]) => keys.has(key)));
  if (owner !== null) copied.set(ownerKey, await writer.store([owner.bytes]));
  return copied;
}
