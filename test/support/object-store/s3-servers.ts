import { Miniflare } from "miniflare";
import { startFauxqs } from "fauxqs";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import type { S3Settings } from "../../../server/drivers/object-store/s3.ts";

/** A server of S3's API on loopback, with an empty bucket. */
export interface S3Server extends AsyncDisposable {
  settings: S3Settings;
}

const CREDENTIALS = { accessKeyId: "key", secretAccessKey: "secret" };

/** The endpoint of R2 on this machine. It checks signatures. */
export async function startMiniflareS3(): Promise<S3Server> {
  // A service in this process lets Miniflare start workerd in the sandbox only.
  const { MINIFLARE_WORKERD_PATH: launcher } = process.env;
  delete process.env["MINIFLARE_WORKERD_PATH"];
  try {
    return await openMiniflareS3();
  } finally {
    if (launcher !== undefined) process.env["MINIFLARE_WORKERD_PATH"] = launcher;
  }
}

async function openMiniflareS3(): Promise<S3Server> {
  const miniflare = new Miniflare({
    modules: true,
    script: `export default { fetch: () => new Response("S3") };`,
    host: "127.0.0.1",
    port: 0,
    cf: false,
    r2Buckets: { BUCKET: { id: "objects", s3Credentials: CREDENTIALS } },
  });
  const { port } = await miniflare.ready;
  return {
    settings: settingsOf(`http://127.0.0.1:${port}/cdn-cgi/local/r2/s3`),
    [Symbol.asyncDispose]: () => miniflare.dispose(),
  };
}

/** Another server, in this process. It checks no signatures. */
export async function startFauxqsS3(): Promise<S3Server> {
  const server = await startFauxqs({ host: "127.0.0.1", port: 0, logger: false });
  const settings = settingsOf(`http://127.0.0.1:${server.port}`);
  const client = new S3Client({
    endpoint: settings.endpoint,
    region: settings.region,
    credentials: CREDENTIALS,
    forcePathStyle: true,
  });
  await client.send(new CreateBucketCommand({ Bucket: settings.bucket }));
  client.destroy();
  return { settings, [Symbol.asyncDispose]: () => server.stop() };
}

function settingsOf(endpoint: string): S3Settings {
  return { endpoint, bucket: "objects", region: "us-east-1", ...CREDENTIALS, prefix: "" };
}
