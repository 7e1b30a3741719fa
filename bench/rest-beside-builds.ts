import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createBusyRepository, SHELLS } from "./rest-beside-builds/busy-repository.ts";
import { waitForBusyShells } from "./rest-beside-builds/wait-for-busy-shells.ts";
import type { BenchContext, Section } from "./support/bench-section.ts";
import { callUntilDone } from "./support/call-until-done.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { startBuild } from "./support/start-build.ts";
import { type ServiceProcess, startService } from "./support/start-servers.ts";
import { formatLatencies, percentile } from "./support/statistics.ts";

const APPS = 20;
/** As many as the service runs at the same time. */
const BUILDS = 4;
const MEASURE_MS = 20_000;
const CALL_INTERVAL_MS = 20;
const TARGET_MS = 60;

export const restBesideBuilds: Section = {
  name: "rest-beside-builds",
  title: "REST beside busy builds",
  method: `\`GET /v1/apps\` with ${APPS} apps on Postgres, one call at a time and at most ${1000 / CALL_INTERVAL_MS} calls per second, for ${MEASURE_MS / 1000} s. Meanwhile ${BUILDS} builds of other organizations run ${SHELLS} shells each in endless loops. The baseline are the same calls before the builds.`,
  async measure(context) {
    const { folder, signal, log } = context;
    await using database = await createScratchDatabase();
    const { gitBaseUrl, repo } = await createBusyRepository(folder, signal);
    const dataDirectory = path.join(folder, "data");
    await using service = await startService({ databaseUrl: database.url, dataDirectory, gitBaseUrl }, signal);
    const call = await createCall(service, signal);
    await measureCalls(context, call);
    const idle = await measureCalls(context, call);
    log(`without builds: ${formatLatencies(idle)}`);
    const busy = await measureBesideBuilds(context, service, repo, call);
    log(`beside builds: ${formatLatencies(busy)}`);
    const limits = await service.call("sandboxLimits");
    const p99 = percentile(busy, 0.99);
    return {
      metrics: [
        {
          name: `\`GET /v1/apps\` beside ${BUILDS} builds with ${SHELLS} busy shells each, p99`,
          result: `${p99.toFixed(0)} ms`,
          target: { bound: `≤ ${TARGET_MS} ms`, met: p99 <= TARGET_MS },
          details: `${formatLatencies(busy)}; without builds ${formatLatencies(idle)}`,
        },
      ],
      notes: [
        `Limited by the kernel: ${limits.controllers.join(", ") || "nothing"} (control groups: ${limits.cgroups ?? "none"}).`,
      ],
    };
  },
};

async function createCall(service: ServiceProcess, signal: AbortSignal): Promise<() => Promise<void>> {
  const [organization] = await service.call("createOrganizations", 1, APPS);
  const url = `${await service.call("publicUrl")}/v1/apps`;
  const headers = { authorization: `Bearer ${organization?.api_key}` };
  return async () => {
    const response = await fetch(url, { headers, signal });
    if (response.status !== 200) throw new Error(`GET /v1/apps returned ${response.status}.`);
    await response.arrayBuffer();
  };
}

function measureCalls({ signal }: BenchContext, call: () => Promise<void>): Promise<number[]> {
  return callUntilDone(sleep(MEASURE_MS, undefined, { signal }), call, CALL_INTERVAL_MS);
}

async function measureBesideBuilds(
  context: BenchContext,
  service: ServiceProcess,
  repo: string,
  call: () => Promise<void>,
): Promise<number[]> {
  await using builds = new AsyncDisposableStack();
  for (let build = 0; build < BUILDS; build++) builds.use(await startBuild(service, repo, context.signal));
  await waitForBusyShells(BUILDS * SHELLS, context.signal);
  return await measureCalls(context, call);
}
