import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostileAct, HostileCaller } from "./fairness/hostile-act.ts";
import { hostileActs } from "./fairness/hostile-acts.ts";
import type { Observation, ObserverCommands } from "./processes/observer.ts";
import type { BenchContext, Metric, Section } from "./support/bench-section.ts";
import { measurePeakGrowth } from "./support/peak-growth.ts";
import { type CommandProcess, startProcess } from "./support/start-process.ts";
import { type ServiceProcess, startService } from "./support/start-servers.ts";
import { percentile } from "./support/statistics.ts";

const APPS = 20;
const QUIET_MS = 10_000;
/** The longest wait of `GET /healthz`. */
const STALL_MS = 100;
/** p99 of `GET /v1/apps`: this bound, or a multiple of what it is without the others, where the machine is slow. */
const LIST_MS = 100;
const LIST_RATIO = 3;

export const fairness: Section = {
  name: "fairness",
  title: "One organization beside others",
  method: `What one organization sees of the service, with its embedded database, while another one does what the row says: the longest wait of \`GET /healthz\` (one request every 10 ms), the response times of \`GET /v1/apps\` with ${APPS} apps, and responses other than 200. The observer is a process of its own. The first row has the same values without the other organization.`,
  async measure(context) {
    const { folder, signal, log } = context;
    await using service = await startService({ dataDirectory: path.join(folder, "data") }, signal);
    await using observer = await startObserver(signal);
    const [organization] = await service.call("createOrganizations", 1, APPS);
    const url = await service.call("publicUrl");
    const begin = () => observer.call("begin", url, organization?.api_key ?? "");
    await observeDuring(observer, begin, () => sleep(QUIET_MS, undefined, { signal }));
    const quiet = await observeDuring(observer, begin, () => sleep(QUIET_MS, undefined, { signal }));
    log(`quiet: ${format(quiet)}`);
    const listMs = Math.max(LIST_MS, LIST_RATIO * percentile(quiet.listMs, 0.99));
    const metrics: Metric[] = [{ name: "nothing", result: format(quiet), target: null, details: "" }];
    for (const act of hostileActs) {
      const metric = await measureAct({ context, service, observer, begin, url }, act, listMs);
      log(`${act.name}: ${metric.result}; ${metric.details}`);
      metrics.push(metric);
    }
    return { metrics, notes: [] };
  },
};

interface Setup {
  context: BenchContext;
  service: ServiceProcess;
  observer: CommandProcess<ObserverCommands>;
  begin(): Promise<void>;
  url: string;
}

async function measureAct(
  { context, service, observer, begin, url }: Setup,
  act: HostileAct,
  listMs: number,
): Promise<Metric> {
  const { api_key: apiKey, personal_access_token: personalAccessToken } = await service.call("createOrganization");
  const caller: HostileCaller = { url, apiKey, personalAccessToken, signal: context.signal };
  let seconds = 0;
  let growthMb = 0;
  const seen = await observeDuring(observer, begin, async () => {
    const startedAt = performance.now();
    growthMb = await measurePeakGrowth(service.pid, () => act.run(caller));
    seconds = (performance.now() - startedAt) / 1000;
  });
  const failed = Object.keys(seen.failures).length > 0;
  return {
    name: act.name,
    result: format(seen),
    target: {
      bound: `longest wait ≤ ${STALL_MS} ms, p99 ≤ ${listMs.toFixed(0)} ms, only 200`,
      met: seen.stallMs <= STALL_MS && percentile(seen.listMs, 0.99) <= listMs && !failed,
    },
    details: `${seconds.toFixed(1)} s, ${growthMb.toFixed(0)} MB more memory`,
  };
}

async function observeDuring(
  observer: CommandProcess<ObserverCommands>,
  begin: () => Promise<void>,
  work: () => Promise<unknown>,
): Promise<Observation> {
  await begin();
  await work();
  return await observer.call("end");
}

function startObserver(signal: AbortSignal): Promise<CommandProcess<ObserverCommands>> {
  return startProcess(new URL("processes/observer.ts", import.meta.url), {}, signal);
}

function format({ stallMs, listMs, failures }: Observation): string {
  const others = Object.entries(failures).map(([status, count]) => `, ${count} × ${status}`);
  return `longest wait ${stallMs.toFixed(0)} ms, list p50 ${percentile(listMs, 0.5).toFixed(1)} ms, p99 ${percentile(listMs, 0.99).toFixed(0)} ms${others.join("")}`;
}
