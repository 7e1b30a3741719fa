import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { BucketRequest, WriteCondition } from "./bucket-client.ts";

/** Names the write that stored an object, so that a repeated write recognizes its own effect. */
export const WRITE_ID_HEADER = "x-amz-meta-write-id";

interface ConditionalStore {
  write(key: string, bytes: Uint8Array, condition: WriteCondition): Promise<{ etag: string } | null>;
  remove(key: string): Promise<void>;
  send(request: BucketRequest & { key: string }): Promise<IncomingMessage>;
}

/**
 * Checks with an object of its own that the store applies the conditions of writes, and keeps the metadata of objects.
 *
 * @throws when it does not, with a message for the operator
 */
export async function checkConditionalWrites(store: ConditionalStore): Promise<void> {
  const key = `write-checks/${randomUUID()}`;
  const write = (text: string, condition: WriteCondition) => store.write(key, Buffer.from(text), condition);
  try {
    const first = await write("first", { ifNoneMatch: "*" });
    if (first === null) throw unsupported("If-None-Match: * prevents a write where there is no object");
    if ((await write("second", { ifNoneMatch: "*" })) !== null) throw unsupported("If-None-Match: * is ignored");
    const second = await write("second", { ifMatch: first.etag });
    if (second === null) throw unsupported("If-Match prevents a write although the ETag is that of the object");
    if ((await write("third", { ifMatch: first.etag })) !== null) throw unsupported("If-Match is ignored");
    const response = await store.send({ method: "HEAD", key });
    response.resume();
    if (response.headers[WRITE_ID_HEADER] === undefined) throw unsupported("the metadata of objects is not kept");
  } finally {
    await store.remove(key);
  }
}

function unsupported(reason: string): Error {
  return new Error(
    `The object store does not support conditional writes: ${reason}. Several edge processes need a store with them, such as Amazon S3, Cloudflare R2, MinIO or Ceph.`,
  );
}
