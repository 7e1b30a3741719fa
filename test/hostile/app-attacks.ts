import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { workerdPids } from "../support/edge/app-processes.ts";
import { type LogEntry, openTestPlatform, type TestPlatform } from "../support/edge/test-platform.ts";
import { type Attack, type AttackEnvironment, type AttackResult, judgeHeld } from "./attack.ts";

/** The limit of the kernel. The service itself stops an app at 768 MiB when it measures it. */
const MEMORY_MB = 1024;
const ATTACK_MS = 8000;
const END_TIMEOUT_MS = 2000;

const HOSTILE = `const held = [];
export default { async fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/loop") for (;;);
  if (pathname === "/buffers") for (;;) { held.push(new Uint8Array(16 * 1024 * 1024).fill(1)); }
  if (pathname === "/heap") for (;;) held.push(new Array(1e6).fill(held.length));
  if (pathname === "/host") return fetch("http://127.0.0.1:" + request.headers.get("x-port")).then(() => new Response("reached"), () => new Response("refused"));
  return new Response("fine");
} }`;
const NEIGHBOUR = `export default { fetch: () => new Response("fine") }`;

export const APP_ATTACKS: readonly Attack[] = [
  { name: "Memory in buffers", through: "app", run: (environment) => attackMemory(environment, "/buffers") },
  { name: "Memory in JavaScript objects", through: "app", run: (environment) => attackMemory(environment, "/heap") },
  {
    name: "An endless loop",
    through: "app",
    run: (environment) =>
      withApps(environment, async (t) => {
        void t.request("hostile", "/loop").catch(() => undefined);
        await sleep(500);
        const startedAt = performance.now();
        const { text } = await t.request("neighbour");
        const took = `another app responds in ${(performance.now() - startedAt).toFixed(0)} ms`;
        return { isContained: text === "fine", text: took };
      }),
  },
  {
    name: "A request to a server of the host",
    through: "app",
    run: (environment) =>
      withApps(environment, async (t) => {
        const { text } = await t.request("hostile", "/host", { headers: { "x-port": String(t.platform.port) } });
        return { isContained: text === "refused", text };
      }),
  },
];

async function withApps(
  { groups }: AttackEnvironment,
  attack: (t: TestPlatform) => Promise<AttackResult>,
): Promise<AttackResult> {
  await using t = await openTestPlatform({ groups });
  await t.publish("neighbour", NEIGHBOUR);
  await t.publish("hostile", HOSTILE);
  return await attack(t);
}

function attackMemory(environment: AttackEnvironment, target: string): Promise<AttackResult> {
  return withApps(environment, async (t) => {
    const pids = await workerdPids(t.root);
    const ended = new AbortController();
    const request = t.request("hostile", target).catch(() => undefined);
    void Promise.race([request, sleep(ATTACK_MS)]).then(() => ended.abort());
    const peakMb = await watchPeak(pids, ended.signal);
    const { text } = await t.request("neighbour");
    const stopped = await findEnd(t);
    const end = `${stopped ? `stopped (${String(stopped["reason"])})` : "not stopped"}; another app responds: ${text}`;
    return judgeHeld(Math.round(peakMb), MEMORY_MB, end);
  });
}

/** Waits for the end of the app's process, which the service notices after the request has failed. */
async function findEnd(t: TestPlatform): Promise<LogEntry | undefined> {
  for (const startedAt = Date.now(); Date.now() - startedAt < END_TIMEOUT_MS; await sleep(20)) {
    const end = t.log.find(({ message }) => message === "app process ended");
    if (end !== undefined) return end;
  }
  return undefined;
}

/** The largest private memory of a process, in MiB, until the signal is aborted. */
async function watchPeak(pids: readonly number[], signal: AbortSignal): Promise<number> {
  let peakKb = 0;
  while (!signal.aborted) {
    const statuses = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, "utf8").catch(() => "")));
    for (const status of statuses) peakKb = Math.max(peakKb, Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0));
    await sleep(10);
  }
  if (peakKb === 0) throw new Error("the memory of the app could not be measured");
  return peakKb / 1024;
}
