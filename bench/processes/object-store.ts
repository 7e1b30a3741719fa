/** An object store with the API of S3, as in production: R2 on this machine. */
import { Miniflare } from "miniflare";
import type { BucketSettings } from "../../server/platforms/embedded/cluster/bucket-client.ts";
import { serveCommands } from "../support/serve-commands.ts";

export type ObjectStoreCommands = Awaited<ReturnType<typeof open>>["commands"];

const CREDENTIALS = { accessKeyId: "key", secretAccessKey: "secret" };

async function open() {
  const miniflare = new Miniflare({
    modules: true,
    script: `export default { fetch: () => new Response("S3") };`,
    host: "127.0.0.1",
    port: 0,
    cf: false,
    r2Buckets: { BUCKET: { id: "objects", s3Credentials: CREDENTIALS } },
  });
  const { port } = await miniflare.ready;
  const settings: BucketSettings = {
    endpoint: `http://127.0.0.1:${port}/cdn-cgi/local/r2/s3`,
    bucket: "objects",
    region: "us-east-1",
    ...CREDENTIALS,
    prefix: "",
  };
  return { commands: { settings: () => settings }, close: () => miniflare.dispose() };
}

await serveCommands(open);
