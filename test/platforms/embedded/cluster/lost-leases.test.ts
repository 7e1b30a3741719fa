import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { killIfExists } from "../../../../server/sandbox/kill-process.ts";
import { openTestBucket, openTestCluster, type TestCluster } from "../../../support/edge/cluster-edge.ts";
import { publishServer } from "../../../support/edge/node-server.ts";
import { NOTES_SERVER, readNotes } from "../../../support/edge/notes-server.ts";
import { eventually, sendRequest, type TestPlatform } from "../../../support/edge/test-platform.ts";
import { processesWith } from "../../../support/sandbox/sandbox-command.ts";
import { TcpProxy } from "../../../support/service/tcp-proxy.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const PROCESS = fileURLToPath(import.meta.resolve("../../../support/edge/cluster-edge-process.ts"));
const WAIT = { timeout: 40_000, interval: 200 };

const POST = { method: "POST", body: "" };

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The name of the newest snapshot of the app. */
async function snapshotName({ bucket }: TestCluster): Promise<string | null> {
  const lease = await bucket.read("edge/server-data/shop/app-shop/lease.json");
  return (JSON.parse(lease?.bytes.toString() ?? "{}") as { snapshot?: string | null }).snapshot ?? null;
}

/** Waits until a snapshot has been taken that began after this call. */
async function untilSaved(cluster: TestCluster, add: () => Promise<unknown>): Promise<void> {
  // One snapshot may have begun before. The one after it has everything.
  for (let n = 0; n < 2; n++) {
    const before = await snapshotName(cluster);
    await add();
    await expect.poll(() => snapshotName(cluster), WAIT).not.toBe(before);
  }
}

test("after an edge is killed, another one starts its app from the last snapshot", async () => {
  await using cluster = await openTestCluster();
  await using folder = await temporaryFolder();
  const edge = await cluster.openEdge();
  await publishServer(edge, "shop", NOTES_SERVER);
  await edge.platform.supervisor.withDatabaseClosed("db-shop", async () => undefined);
  const other = spawn(process.execPath, [PROCESS, folder.path, JSON.stringify(cluster.server.settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed] = (await once(other.stdout, "data")) as [Buffer];
  const send = async (target: string) =>
    readNotes(await sendRequest(Number(printed.toString()), "shop.localhost", target, POST));
  await untilSaved(cluster, () => send("/saved"));
  const { started } = await send("/late");
  other.kill("SIGKILL");
  await once(other, "exit");
  const after = readNotes(await edge.request("shop"));
  expect(after.notes.slice(0, 2)).toEqual(["saved", "saved"]);
  expect(after.integrity).toBe("ok");
  expect(after.started).not.toBe(started);
}, 90_000);

test("a killed process starts again on its edge with everything that was acknowledged", async () => {
  await using cluster = await openTestCluster();
  const [first, second] = [await cluster.openEdge(), await cluster.openEdge()];
  const name = randomUUID();
  await publishServer(first, "shop", NOTES_SERVER, { command: `node server.js ${name}` });
  readNotes(await second.request("shop", "/one", POST));
  for (const pid of await processesWith(name)) killIfExists(pid);
  const notes = async (edge: TestPlatform) => {
    const { status, text } = await edge.request("shop");
    return status === 200 ? (JSON.parse(text) as { notes: string[] }).notes : null;
  };
  await expect.poll(() => notes(second), WAIT).toEqual(["one"]);
});

test("an edge that cannot renew its lease kills the process before another edge starts the app", async () => {
  await using cluster = await openTestCluster();
  const { endpoint } = cluster.server.settings;
  await using proxy = await TcpProxy.open({ host: "127.0.0.1", port: Number(new URL(endpoint).port) });
  const settings = { ...cluster.server.settings, endpoint: `http://127.0.0.1:${proxy.port}` };
  using bucket = openTestBucket(settings);
  const cut = await cluster.openEdge({}, bucket);
  const other = await cluster.openEdge();
  const name = randomUUID();
  await publishServer(cut, "shop", NOTES_SERVER, { command: `node server.js ${name}` });
  await untilSaved(cluster, () => cut.request("shop", "/saved", POST));
  const pids = await processesWith(name);
  await proxy.cut();
  // It continues to serve until the lease may end, and requests at the other edge reach it.
  expect(readNotes(await cut.request("shop")).notes).toEqual(["saved", "saved"]);
  const { started } = readNotes(await other.request("shop"));
  const taken = await eventually(async () => {
    const { status, text } = await other.request("shop");
    const notes = status === 200 ? (JSON.parse(text) as { started: number; notes: string[] }) : null;
    return notes !== null && notes.started !== started ? notes : undefined;
  });
  expect(pids).not.toEqual([]);
  expect([taken.notes, pids.filter(isRunning)]).toEqual([["saved", "saved"], []]);
  const refused = await cut.request("shop");
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining("The object store cannot be reached")]);
  await proxy.restore();
  // The edge forwards to the new holder when it can read the bucket again.
  const answered = async () => {
    const { status, text } = await cut.request("shop");
    return status === 200 ? (JSON.parse(text) as { started: number }).started : status;
  };
  await expect.poll(answered, WAIT).toBe(taken.started);
}, 90_000);
