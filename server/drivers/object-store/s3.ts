import { Readable } from "node:stream";
import type * as Sdk from "@aws-sdk/client-s3";
import {
  ObjectMissing,
  type ObjectRange,
  type ObjectStore,
  type StoredObject,
} from "../../../domain/ports/object-store.ts";
import { isBucketName, keySegments, validateBucket } from "./object-names.ts";

export interface S3Settings {
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** What all keys begin with: empty, or a path that ends in `/`. */
  prefix: string;
}

/** What one request can delete. */
const DELETE_BATCH = 1000;
const PART_BYTES = 8 * 1024 * 1024;

/**
 * Stores objects in one bucket of an S3 server. The buckets of the port are prefixes in it, so that no right to create
 * buckets is necessary. Checksums are sent only where S3 requires them: servers other than AWS reject the newer ones, or
 * store a stream with them in it.
 */
export class S3ObjectStore implements ObjectStore, Disposable {
  readonly #settings: S3Settings;
  readonly #sdk: typeof Sdk;
  readonly #client: Sdk.S3Client;

  /** Loads the SDK, which takes a second of CPU time, and checks that the bucket can be read. */
  static async open(settings: S3Settings): Promise<S3ObjectStore> {
    const store = new S3ObjectStore(settings, await import("@aws-sdk/client-s3"));
    await store.listBuckets();
    return store;
  }

  private constructor(settings: S3Settings, sdk: typeof Sdk) {
    const { endpoint, region, accessKeyId, secretAccessKey } = settings;
    this.#settings = settings;
    this.#sdk = sdk;
    this.#client = new sdk.S3Client({
      endpoint,
      region,
      credentials: { accessKeyId, secretAccessKey },
      forcePathStyle: true,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
  }

  async put(bucket: string, key: string, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    const target = this.#target(bucket, key);
    if (body instanceof Uint8Array) {
      await this.#client.send(new this.#sdk.PutObjectCommand({ ...target, Body: body, ContentLength: body.length }));
      return;
    }
    const { Upload } = await import("@aws-sdk/lib-storage");
    const params = { ...target, Body: Readable.from(body, { objectMode: false }) };
    await new Upload({ client: this.#client, params, partSize: PART_BYTES, queueSize: 2 }).done();
  }

  async get(bucket: string, key: string): Promise<Uint8Array | null> {
    try {
      const { Body } = await this.#client.send(new this.#sdk.GetObjectCommand(this.#target(bucket, key)));
      return (await Body?.transformToByteArray()) ?? new Uint8Array();
    } catch (error) {
      if (error instanceof this.#sdk.NoSuchKey) return null;
      throw error;
    }
  }

  async *read(bucket: string, key: string, range?: ObjectRange): AsyncGenerator<Uint8Array> {
    const part = range === undefined ? {} : { Range: `bytes=${range.offset}-${range.offset + range.length - 1}` };
    const { Body } = await this.#client
      .send(new this.#sdk.GetObjectCommand({ ...this.#target(bucket, key), ...part }))
      .catch((cause: unknown) => {
        if (cause instanceof this.#sdk.NoSuchKey)
          throw new ObjectMissing(`The object ${key} does not exist`, { cause });
        throw new Error(`The object ${key} cannot be read`, { cause });
      });
    if (Body !== undefined) yield* Body as unknown as AsyncIterable<Uint8Array>;
  }

  async list(bucket: string): Promise<StoredObject[]> {
    const prefix = this.#bucketPrefix(bucket);
    const objects: StoredObject[] = [];
    for await (const page of this.#pages(prefix))
      for (const { Key: key = "", Size: size = 0 } of page) objects.push({ key: key.slice(prefix.length), size });
    // S3 sorts by the bytes of UTF-8.
    return objects.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async remove(bucket: string, key: string): Promise<void> {
    await this.#client.send(new this.#sdk.DeleteObjectCommand(this.#target(bucket, key)));
  }

  async removeBucket(bucket: string): Promise<void> {
    const keys = (await this.list(bucket)).map(({ key }) => this.#bucketPrefix(bucket) + key);
    for (let at = 0; at < keys.length; at += DELETE_BATCH) await this.#removeAll(keys.slice(at, at + DELETE_BATCH));
  }

  async listBuckets(): Promise<string[]> {
    const { bucket: Bucket, prefix: Prefix } = this.#settings;
    const { paginateListObjectsV2 } = this.#sdk;
    const names: string[] = [];
    for await (const page of paginateListObjectsV2({ client: this.#client }, { Bucket, Prefix, Delimiter: "/" }))
      for (const { Prefix: folder = "" } of page.CommonPrefixes ?? []) names.push(folder.slice(Prefix.length, -1));
    return names.filter(isBucketName);
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }

  async #removeAll(keys: readonly string[]): Promise<void> {
    const objects = keys.map((Key) => ({ Key }));
    const { Errors: errors = [] } = await this.#client.send(
      new this.#sdk.DeleteObjectsCommand({ Bucket: this.#settings.bucket, Delete: { Objects: objects, Quiet: true } }),
    );
    const [first] = errors;
    if (first !== undefined)
      throw new Error(`${errors.length} objects were not removed: ${first.Code} ${first.Message}`);
  }

  async *#pages(prefix: string) {
    const { paginateListObjectsV2 } = this.#sdk;
    const request = { Bucket: this.#settings.bucket, Prefix: prefix };
    for await (const { Contents } of paginateListObjectsV2({ client: this.#client }, request)) yield Contents ?? [];
  }

  #target(bucket: string, key: string): { Bucket: string; Key: string } {
    const name = keySegments(key).join("/");
    return { Bucket: this.#settings.bucket, Key: this.#bucketPrefix(bucket) + name };
  }

  #bucketPrefix(bucket: string): string {
    validateBucket(bucket);
    return `${this.#settings.prefix}${bucket}/`;
  }
}
