import { z } from "zod";
import { inParallel } from "../../domain/shared/in-parallel.ts";
import { parseJson } from "../../domain/shared/json.ts";
import {
  APPS_PREFIX,
  AUTH_ENTRIES_PREFIX,
  DATA_PREFIX,
  DATABASES_PREFIX,
  dataPrefix,
  SERVER_DATA_PREFIX,
  VERSIONS_PREFIX,
} from "../platforms/embedded/cluster/bucket-layout.ts";
import { type BucketSource, CONCURRENCY, MAX_ATTEMPTS, storeObject } from "./bucket-source.ts";
import { copyDurableObjects } from "./copy-durable-objects.ts";

/** Folders of an app's data that are copied in another way, or not at all. */
const ENGINE_FOLDERS = ["do", "services", "alarms", "nodes"];

const appRecord = z.object({ appId: z.string(), name: z.string() });
const leaseRecord = z.looseObject({ snapshot: z.string().nullable() });

/**
 * Copies what several edges have in their bucket while they serve. Each part is as at one moment after the call: what names another object
 * is read first, and read again if that object was replaced meanwhile. Large values must not be removed during the call.
 */
export async function copySharedBucket(source: BucketSource): Promise<void> {
  const { bucket } = source;
  await copyFolder(source, AUTH_ENTRIES_PREFIX);
  for await (const { key } of bucket.list(APPS_PREFIX)) await copyApp(source, key);
  for (const slug of await bucket.listFolders(SERVER_DATA_PREFIX))
    for (const appId of await bucket.listFolders(`${SERVER_DATA_PREFIX}${slug}/`))
      await copyServerData(source, `${SERVER_DATA_PREFIX}${slug}/${appId}/`);
  await copyFolder(source, DATABASES_PREFIX);
  for (const databaseId of await bucket.listFolders(DATA_PREFIX)) await copyData(source, dataPrefix(databaseId));
}

/** Adds the objects of a folder that are there. @param added - keys that were added before */
async function copyFolder(source: BucketSource, folder: string, added = new Set<string>()): Promise<void> {
  await inParallel(source.bucket.list(folder), CONCURRENCY, async ({ key }) => {
    if (added.has(key)) return;
    const stored = await storeObject(source, key);
    if (stored === null) return;
    added.add(key);
    source.writer.addSharedObject(key, stored);
  });
}

/** Adds the live version of an app. */
async function copyApp({ bucket, writer, signal }: BucketSource, key: string): Promise<void> {
  const slug = key.slice(APPS_PREFIX.length).replace(/\.json$/, "");
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const found = await bucket.read(key);
    // Removed meanwhile.
    if (found === null) return;
    const { appId, name } = appRecord.parse(parseJson(found.bytes.toString("utf8")));
    const archive = `${VERSIONS_PREFIX}${slug}/${appId}/${name}.tar`;
    const stored = await storeObject({ bucket, writer, signal }, archive);
    if (stored === null) continue;
    writer.addSharedObject(archive, stored);
    return writer.addSharedObject(key, await writer.store([found.bytes]));
  }
  writer.warn(`The version of the app ${slug} was replaced all the time. It is not in the backup.`);
}

/** Adds the newest snapshot of the data of a Node server. The copy belongs to no edge: its holder is one of the living installation. */
async function copyServerData({ bucket, writer, signal }: BucketSource, folder: string): Promise<void> {
  const key = `${folder}lease.json`;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const found = await bucket.read(key);
    if (found === null) return;
    const record = leaseRecord.parse(parseJson(found.bytes.toString("utf8")));
    const { snapshot } = record;
    if (snapshot !== null) {
      const archive = `${folder}${snapshot}.tar.zst`;
      const stored = await storeObject({ bucket, writer, signal }, archive);
      if (stored === null) continue;
      writer.addSharedObject(archive, stored);
    }
    const copy = Buffer.from(JSON.stringify({ ...record, holder: null, wantedBy: null }));
    return writer.addSharedObject(key, await writer.store([copy]));
  }
  writer.warn(`${folder}: the data of the server was replaced all the time. It is not in the backup.`);
}

/**
 * Adds the data of the Workers of one database id. Rows name large values, so these come after the rows. Alarms are written before the commit
 * that sets them, and removed after the one that replaces them, so they are copied before and after: one too many does nothing.
 */
async function copyData(source: BucketSource, prefix: string): Promise<void> {
  const version = `${prefix}v1/`;
  const alarms = new Set<string>();
  await copyFolder(source, `${version}alarms/`, alarms);
  await copyDurableObjects(source, `${version}do/`);
  await copyFolder(source, `${version}alarms/`, alarms);
  await copyFolder(source, `${version}services/`);
  for (const name of await source.bucket.listFolders(version))
    if (!ENGINE_FOLDERS.includes(name)) await copyFolder(source, `${version}${name}/`);
}
