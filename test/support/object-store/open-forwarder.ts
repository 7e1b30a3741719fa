import { BucketForwarder } from "../../../server/platforms/embedded/cluster/bucket-forwarder.ts";
import { openDiskBucket } from "./disk-bucket.ts";
import { sendSigned, type SignedRequest } from "./send-signed.ts";

/** A forwarder with an app that has the object `apps/1/a`, and another app with `apps/10/secret`. */
export async function openForwarder() {
  const disk = await openDiskBucket();
  const forwarder = await BucketForwarder.listen(disk.bucket, { warn() {} });
  const grant = forwarder.grant("apps/1/");
  await disk.bucket.write("apps/1/a", Buffer.from("text"));
  await disk.bucket.write("apps/10/secret", Buffer.from("secret"));
  disk.server.requests.length = 0;
  return {
    ...disk,
    forwarder,
    grant,
    send: (changes: Partial<SignedRequest>) =>
      sendSigned({ ...grant, method: "GET", path: `/${grant.bucketName}/apps/1/a`, ...changes }),
    [Symbol.asyncDispose]: async () => {
      await forwarder[Symbol.asyncDispose]();
      await disk[Symbol.asyncDispose]();
    },
  };
}
