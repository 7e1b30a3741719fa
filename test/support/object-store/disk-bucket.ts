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

/** Opens a bucket that repeats requests without long pauses. */
export async function openDiskBucket(): Promise<DiskBucket> {
  const folder = await temporaryFolder();
  const server = await startDiskS3(folder.path);
  const bucket = new SharedBucket({ ...server.settings, prefix: BUCKET_PREFIX }, { backOffMs: 5, idleTimeoutMs: 1000 });
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
