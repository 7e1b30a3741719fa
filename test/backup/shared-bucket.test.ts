import path from "node:path";
import { expect, test } from "vitest";
import { BackupRepository } from "../../server/backup/backup-repository.ts";
import { openTarget } from "../../server/backup/backup-target.ts";
import { BackupWriter } from "../../server/backup/backup-writer.ts";
import { entrySchema } from "../../server/backup/manifest.ts";
import { addSharedBucket, restoreSharedObject } from "../../server/backup/several-edges.ts";
import { SharedBucket } from "../../server/platforms/embedded/cluster/shared-bucket.ts";
import { openClusterEdge, openTestCluster, type TestCluster } from "../support/edge/cluster-edge.ts";
import type { TestPlatform } from "../support/edge/test-platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";

/** Stores the number of each request everywhere. Large values are replaced all the time. */
const SCRIPT = `
import { DurableObject } from "cloudflare:workers";
const textOf = (n) => (n + " ").repeat(40000);
export class Log extends DurableObject {
  constructor(state, env) {
    super(state, env);
    state.storage.sql.exec("create table if not exists items (n integer primary key)");
  }
  add(n) { this.ctx.storage.sql.exec("insert or ignore into items values (?)", n); }
  all() { return this.ctx.storage.sql.exec("select n from items order by n").toArray().map(({ n }) => n); }
  async wake() { await this.ctx.storage.setAlarm(Date.now() + 4000); }
  async alarm() { await this.env.KV.put("woken", "true"); }
}
export default { async fetch(request, { DB, KV, BUCKET, LOG }) {
  const url = new URL(request.url);
  const n = Number(url.searchParams.get("n"));
  const log = LOG.get(LOG.idFromName("log"));
  const key = "k" + (n % 3);
  if (url.pathname === "/migrate") {
    await DB.prepare("create table if not exists items (n integer primary key, text text)").run();
  } else if (url.pathname === "/wake") {
    await log.wake();
  } else if (url.pathname === "/woken") {
    return new Response(await KV.get("woken"));
  } else if (request.method === "POST") {
    await DB.prepare("insert or ignore into items values (?, ?)").bind(n, textOf(n).slice(0, 30000)).run();
    await KV.put(key, textOf(n));
    await BUCKET.put(key, textOf(n));
    await log.add(n);
  } else {
    const rows = (await DB.prepare("select n from items order by n").all()).results.map((row) => row.n);
    const [check] = (await DB.prepare("pragma quick_check").raw()).flat();
    const values = [], objects = [];
    for (const name of ["k0", "k1", "k2"]) {
      const [value, object] = [await KV.get(name), await BUCKET.get(name)];
      for (const [list, text] of [[values, value], [objects, object && (await object.text())]])
        list.push(text !== null && text === textOf(parseInt(text)) ? parseInt(text) : null);
    }
    return Response.json({ rows, check, values, objects, log: await log.all() });
  }
  return new Response("ok");
} };`;

const BINDINGS = [
  { type: "d1", name: "DB", id: "db-shop" },
  { type: "kv_namespace", name: "KV", namespace_id: "values" },
  { type: "r2_bucket", name: "BUCKET", bucket_name: "files" },
  { type: "durable_object_namespace", name: "LOG", class_name: "Log" },
];
const POST = { method: "POST", body: "" };
const OPTIONS = { signal: new AbortController().signal };

interface AppState {
  rows: number[];
  check: string;
  values: (number | null)[];
  objects: (number | null)[];
  log: number[];
}

async function publish(edge: TestPlatform): Promise<void> {
  await edge.publish("shop", SCRIPT, { bindings: BINDINGS });
  await waitFor(async () => expect((await edge.request("shop", "/migrate", POST)).status).toBe(200));
}

async function givenPlace() {
  const folder = await temporaryFolder();
  const target = await openTarget(path.join(folder.path, "place"), { s3: null, keyFile: null, schedule: null });
  return {
    store: target.store,
    dataDirectory: folder.path,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Copies the bucket of a cluster, and restores the copy below another prefix of the same server. */
async function copyBucket({ bucket, server }: TestCluster, prefix: string): Promise<SharedBucket> {
  await using place = await givenPlace();
  const repository = await BackupRepository.openForWriting(place.store, null);
  const writer = new BackupWriter(repository);
  await addSharedBucket({ bucket, writer, ...OPTIONS });
  expect(writer.warnings).toEqual([]);
  const index = await writer.addIndex();
  await repository.flush();
  const copy = new SharedBucket({ ...server.settings, prefix });
  const text = Buffer.concat(await Array.fromAsync(repository.read(index))).toString();
  for (const line of text.split("\n").filter(Boolean)) {
    const entry = entrySchema.parse(JSON.parse(line));
    if (entry.kind !== "shared_object") throw new Error(`unexpected ${entry.kind}`);
    await restoreSharedObject(repository, entry, { bucket: copy, dataDirectory: place.dataDirectory });
  }
  return copy;
}

function numbersUpTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

/** Expects the state of one moment for each database, with everything that was acknowledged. */
function expectState({ rows, check, values, objects, log }: AppState, acknowledged: number): void {
  expect(check).toBe("ok");
  for (const numbers of [rows, log]) {
    expect(numbers).toEqual(numbersUpTo(numbers.length));
    expect(numbers.length).toBeGreaterThanOrEqual(acknowledged);
  }
  for (const stored of [values, objects])
    for (const [at, n] of stored.entries()) {
      expect((n ?? -1) % 3).toBe(at);
      expect(n).toBeGreaterThan(acknowledged - 3);
    }
}

test(
  "a copy of the bucket while two edges serve has everything that was acknowledged before, also when an edge ends meanwhile",
  { timeout: 120_000 },
  async () => {
    await using cluster = await openTestCluster();
    const [first, second] = [await cluster.openEdge(), await cluster.openEdge()];
    await publish(first);
    let acknowledged = 0;
    const edges = [first, second];
    const stopping = new AbortController();
    const writing = (async () => {
      while (!stopping.signal.aborted) {
        const edge = edges[acknowledged % edges.length] ?? second;
        const sent = edge.request("shop", `/?n=${acknowledged + 1}`, POST);
        const { status, text } = await sent.catch(({ message }: Error) => ({ status: 0, text: message }));
        if (status === 200) acknowledged++;
        // A request that the ending edge has not accepted or not acknowledged is repeated on the other.
        else if (edges.length === 2) throw new Error(`The app responded with ${status}: ${text}`);
      }
    })();
    await waitFor(() => expect(acknowledged).toBeGreaterThan(10));
    for (const [at, isEnding] of [false, true].entries()) {
      const before = acknowledged;
      const copying = copyBucket(cluster, `copy-${at}/`);
      if (isEnding) {
        edges.shift();
        await first[Symbol.asyncDispose]();
      }
      using copy = await copying;
      await using edge = await openClusterEdge(copy);
      expect(acknowledged).toBeGreaterThan(before);
      expectState(JSON.parse((await edge.request("shop")).text) as AppState, before);
      // The copy is an installation of its own.
      expect((await edge.request("shop", "/?n=1000000", POST)).status).toBe(200);
    }
    stopping.abort();
    await writing;
    const state = JSON.parse((await second.request("shop")).text) as AppState;
    expectState(state, acknowledged);
    // What was deleted while a backup was made is deleted afterwards.
    await waitFor(async () => {
      const left = await Array.fromAsync(cluster.bucket.list("edge/data/db-shop/v1/services/"));
      expect(left).toHaveLength(6);
    });
    expect(await Array.fromAsync(cluster.bucket.list("edge/held-deletions/"))).toEqual([]);
    expect(await cluster.bucket.read("edge/backup.json")).toBeNull();
  },
);

test("an alarm that is set in a copy of the bucket is due there too", { timeout: 60_000 }, async () => {
  await using cluster = await openTestCluster();
  const edge = await cluster.openEdge();
  await publish(edge);
  expect((await edge.request("shop", "/wake", POST)).status).toBe(200);
  using copy = await copyBucket(cluster, "copy/");
  await edge[Symbol.asyncDispose]();
  await using restored = await openClusterEdge(copy);
  expect((await restored.request("shop", "/migrate")).status).toBe(200);
  await waitFor(async () => expect((await restored.request("shop", "/woken")).text).toBe("true"));
});

test("two backups of one installation at the same time are refused", async () => {
  await using cluster = await openTestCluster();
  const results = await Promise.allSettled([copyBucket(cluster, "a/"), copyBucket(cluster, "b/")]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});
