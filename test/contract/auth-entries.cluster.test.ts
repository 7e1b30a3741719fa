import { SharedAuthEntries } from "../../server/platforms/embedded/cluster/shared-auth-entries.ts";
import { openDiskBucket } from "../support/object-store/disk-bucket.ts";
import { authEntriesContract } from "./auth-entries.ts";

const NO_LOG = { info() {}, warn() {} };

authEntriesContract("cluster", async () => {
  const opened = await openDiskBucket();
  // Without an age, so that another edge sees a change at once.
  const options = { bucket: opened.bucket, log: NO_LOG, maxAgeMs: 0 };
  return {
    entries: new SharedAuthEntries(options),
    elsewhere: new SharedAuthEntries(options),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
});
