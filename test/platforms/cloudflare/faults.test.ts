import path from "node:path";
import { expect, test } from "vitest";
import type { Script } from "../../../domain/ports/edge-platform.ts";
import type { Fault } from "../../support/cloudflare/emulator.ts";
import { openOnEmulator, type PlatformOnEmulator } from "../../support/cloudflare/open-on-emulator.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const SCRIPT = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {}
export default { async fetch(request, { DB, KV, FILES }) {
  await FILES.put("a/b", "object");
  return Response.json([await DB.prepare("SELECT name FROM goods").all().then((all) => all.results), await KV.get("absent")]);
} }`;
const BINDINGS = [
  { type: "d1", name: "DB", id: "declared" },
  { type: "kv_namespace", name: "KV", namespace_id: "values" },
  { type: "r2_bucket", name: "FILES", bucket_name: "files" },
  { type: "durable_object_namespace", name: "ROOM", class_name: "Room" },
];
const MIGRATION = { name: "0001.sql", statements: ["CREATE TABLE goods(name)", "INSERT INTO goods VALUES ('tea')"] };
const signal = AbortSignal.timeout(600_000);

/** Does everything that a deployment does, as often as it is called. */
async function deploy({ platform }: Pick<PlatformOnEmulator, "platform">, script: Script): Promise<void> {
  await platform.databases.create("db-1");
  await platform.databases.migrate("db-1", [MIGRATION], signal);
  await platform.authEntries.put({ appId: "app-1", tokenSha256: "0".repeat(64) });
  await platform.scripts.publish("shop", script, signal);
}

async function remove({ platform }: Pick<PlatformOnEmulator, "platform">): Promise<void> {
  await platform.scripts.unpublish("shop");
  await platform.authEntries.remove("app-1");
  await platform.databases.remove("db-1");
}

async function writeScript(folder: string): Promise<Script> {
  const scriptPath = await writeUploadForm(path.join(folder, "bundle.form"), SCRIPT, { bindings: BINDINGS });
  return { appId: "app-1", generation: 1, databaseId: "db-1", code: { runtime: "worker", scriptPath }, assets: null };
}

/** How much exists in the account, besides the namespace of the edge and the database that names the installation. */
function countResources({ emulator }: PlatformOnEmulator): number[] {
  const { scripts, databases, namespaces, buckets } = emulator.account.state;
  return [scripts.size, databases.size - 1, namespaces.size - 1, buckets.size];
}

const FAULTS: [string, Fault][] = [
  ["is refused because of the limit of requests", { status: 429, retryAfter: 0 }],
  ["fails with a server error", { status: 503 }],
  ["has its effect, and the response is lost", "lost response"],
];

test.each(FAULTS)(
  "an app is deployed once and removed completely although the first request of each kind %s",
  async (_, fault) => {
    await using t = await openOnEmulator();
    await using folder = await temporaryFolder();
    const script = await writeScript(folder.path);
    t.emulator.failFirstOfEach(fault);
    await deploy(t, script);
    expect(countResources(t)).toEqual([1, 1, 1, 1]);
    expect((await t.request("shop")).text).toBe('[[{"name":"tea"}],null]');
    t.emulator.failFirstOfEach(fault);
    await remove(t);
    expect([countResources(t), await t.platform.scripts.list(), await t.platform.authEntries.list()]).toEqual([
      [0, 0, 0, 0],
      [],
      [],
    ]);
  },
);

test("a process that is killed after any request of a deployment leaves nothing that a repetition or a removal misses", async () => {
  await using t = await openOnEmulator({ attempts: 1 });
  await using folder = await temporaryFolder();
  const script = await writeScript(folder.path);
  const before = t.emulator.requests.length;
  await deploy(t, script);
  const total = t.emulator.requests.length - before;
  await remove(t);
  // Every third request, so that the test stays short. Another process continues, which knows nothing of the first one.
  for (let last = 1; last < total; last += 3) {
    let count = 0;
    t.emulator.failRequests(() => (++count > last ? { status: 503 } : null));
    await deploy({ platform: await t.reopen().catch(() => t.platform) }, script).catch(() => {});
    t.emulator.failRequests(null);
    const later = { platform: await t.reopen() };
    if (last % 2 === 0) await deploy(later, script);
    const isFound = countResources(t)[0] === 0 || (await later.platform.scripts.list()).length === 1;
    await remove(later);
    expect([last, isFound, countResources(t)]).toEqual([last, true, [0, 0, 0, 0]]);
  }
});
