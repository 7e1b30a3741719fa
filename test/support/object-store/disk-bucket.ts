import type { BucketLimits } from "../../../server/platforms/embedded/cluster/bucket-client.ts";
import { SharedBucket } from "../../../server/platforms/embedded/cluster/shared-bucket.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type DiskS3, startDiskS3 } from "./disk-s3.ts";

/** A shared bucket below a prefix of an S3 server with files. */
export interface DiskBucket extends AsyncDisposable {
  server: DiskS3;
  bucket: SharedBucket;
  /** The folder of the server. */
  folder: string;
}

export const BUCKET_PREFIX = "production/";

/** Opens a bucket on a server with an empty folder. */
export async function openDiskBucket(limits: Partial<BucketLimits> = {}): Promise<DiskBucket> {
  const folder = await temporaryFolder();
  const server = await startDiskS3(folder.path);
  const bucket = new SharedBucket({ ...server.settings, prefix: BUCKET_PREFIX }, limits);
  return {
    server,
    bucket,
    folder: folder.path,
    [Symbol.asyncDispose]: async () => {
      bucket[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
