import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import { BucketForwarder, type BucketGrant } from "../../../../server/platforms/embedded/cluster/bucket-forwarder.ts";
import { workerd } from "../../../../server/platforms/embedded/workerd/workerd-binary.ts";
import { openDiskBucket } from "../../../support/object-store/disk-bucket.ts";
import { waitFor } from "../../../support/time-limits.ts";

const WORKER = `
import { DurableObject } from "cloudflare:workers";
export class Counter extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS hits (n INTEGER PRIMARY KEY)");
  }
  fetch(request) {
    if (request.method === "POST") this.ctx.storage.sql.exec("INSERT INTO hits DEFAULT VALUES");
    return Response.json(this.ctx.storage.sql.exec("SELECT count(*) AS count FROM hits").one());
  }
}
export default { fetch: (request, env) => env.COUNTER.get(env.COUNTER.idFromName("a")).fetch(request) };
`;

function configOf(grant: BucketGrant): string {
  const options = {
    aws_endpoint: grant.endpoint,
    aws_region: "auto",
    aws_access_key_id: grant.accessKeyId,
    aws_secret_access_key: grant.secretAccessKey,
  };
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-07-01",
      bindings = [(name = "COUNTER", durableObjectNamespace = "Counter")],
      durableObjectNamespaces = [(className = "Counter", uniqueKey = "Counter", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"))),
    (name = "disk", disk = (path = "/unused", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
  cluster = (
    bucket = "s3://${grant.bucketName}/apps/1",
    bucketOptions = [${Object.entries(options)
      .map(([name, value]) => JSON.stringify(`${name}=${value}`))
      .join(", ")}],
    address = "127.0.0.1:0",
    key = "${"0123456789abcdef".repeat(4)}",
    unsafeTimeDivisor = 2));
`;
}

interface Instance extends AsyncDisposable {
  process: ChildProcess;
  url: string;
}

async function startInstance(folder: string, name: string): Promise<Instance> {
  const disk = join(folder, name);
  await mkdir(disk);
  const options = ["--experimental", "--directory-path", `disk=${disk}`, "--control-fd", "3"];
  const process = spawn(workerd.default, ["serve", ...options, "config.capnp", "config"], {
    cwd: folder,
    env: {},
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  const url = await readUrl(process.stdio[3] as Readable);
  return {
    process,
    url,
    [Symbol.asyncDispose]: async () => {
      if (process.exitCode !== null || process.signalCode !== null) return;
      process.kill("SIGKILL");
      await once(process, "exit");
    },
  };
}

/** Reads the port of the app from the events that workerd reports. */
async function readUrl(events: Readable): Promise<string> {
  for await (const line of createInterface({ input: events })) {
    const event = JSON.parse(line) as { event: string; socket?: string; port: number };
    if (event.event === "listen" && event.socket === "http") return `http://127.0.0.1:${event.port}/`;
  }
  throw new Error("workerd did not start");
}

async function count(url: string, method: "GET" | "POST" = "GET"): Promise<number> {
  const response = await fetch(url, { method });
  expect(response.status).toBe(200);
  return ((await response.json()) as { count: number }).count;
}

test("after kill -9 of the process that ran a Durable Object, another one continues with all its writes", async () => {
  await using disk = await openDiskBucket();
  await using forwarder = await BucketForwarder.listen(disk.bucket, { warn() {} });
  using grant = forwarder.grant("apps/1/");
  await disk.bucket.checkConditionalWrites();
  disk.server.requests.length = 0;
  await writeFile(join(disk.folder, "worker.js"), WORKER);
  await writeFile(join(disk.folder, "config.capnp"), configOf(grant));
  await using first = await startInstance(disk.folder, "first");
  expect(await count(first.url, "POST")).toBe(1);
  await using second = await startInstance(disk.folder, "second");
  for (let n = 2; n <= 20; n++) expect(await count(n % 2 === 0 ? second.url : first.url, "POST")).toBe(n);

  first.process.kill("SIGKILL");
  await once(first.process, "exit");
  expect(await waitFor(() => count(second.url))).toBe(20);
  expect(await count(second.url, "POST")).toBe(21);

  await using third = await startInstance(disk.folder, "third");
  expect(await count(third.url)).toBe(21);
  const outside = disk.server.requests.filter((request) => !/^(?:GET $|[A-Z]+ production\/apps\/1\/)/.test(request));
  expect(outside).toEqual([]);
});
