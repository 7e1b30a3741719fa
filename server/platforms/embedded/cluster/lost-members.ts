import { once } from "node:events";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { parseJson } from "../../../../domain/shared/json.ts";
import { dataPrefix } from "./bucket-layout.ts";
import type { SharedBucket } from "./shared-bucket.ts";

/** What workerd writes about each process of a cluster. It removes the record of a process that ends in order. */
const recordSchema = z.object({ address: z.string(), expires_ms: z.number() });

/** The engine's lease has 20 s. */
const MAX_WAIT_MS = 25_000;
const CONNECT_TIMEOUT_MS = 1_000;
/** The engine opens an object only after the end of the lease. */
const MARGIN_MS = 500;

/**
 * Waits until the leases of killed processes of an app have ended. Until then no process can open the durable objects that they had,
 * so a process that starts would fail its first requests.
 */
export async function untilLostLeasesEnd(bucket: SharedBucket, databaseId: string, signal: AbortSignal): Promise<void> {
  const remainingMs = await lostLeasesMs(bucket, databaseId);
  if (remainingMs > 0) await sleep(Math.min(remainingMs + MARGIN_MS, MAX_WAIT_MS), null, { signal });
}

/** For how many milliseconds killed processes of an app still have leases; 0 if there are none. */
export async function lostLeasesMs(bucket: SharedBucket, databaseId: string): Promise<number> {
  let longestMs = 0;
  for await (const { key } of bucket.list(`${dataPrefix(databaseId)}v1/nodes/`)) {
    const found = await bucket.read(key);
    const record = recordSchema.safeParse(parseJson(found?.bytes.toString("utf8") ?? "")).data;
    const remainingMs = record === undefined ? 0 : record.expires_ms - Date.now();
    if (record !== undefined && remainingMs > longestMs && !(await isReachable(record.address)))
      longestMs = remainingMs;
  }
  return longestMs;
}

/** @param address - with its port, as workerd writes it */
async function isReachable(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const socket = net.connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
