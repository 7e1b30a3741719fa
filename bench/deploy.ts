import { mkdtemp, readdir } from "node:fs/promises";
import path from "node:path";
import { type BareDeployTimes, runBareDeploy } from "./support/bare-deploy.ts";
import { type BenchContext, formatInteger, type Section, type SectionResult } from "./support/bench-section.ts";
import { type DeployedApp, deployApp } from "./support/deploy-app.ts";
import { measureAlternately } from "./support/measure-alternately.ts";
import { startService } from "./support/start-servers.ts";
import { compare, median, type Pair } from "./support/statistics.ts";

const ROUNDS = 7;
const TARGET = 1.3;

export const deploy: Section = {
  name: "deploy",
  title: "Deploying an app",
  method: `The time from \`POST /v1/apps/deploy\` of \`examples/hello\` to the status \`ready\`, with the embedded defaults. The baseline is the sum of three steps without the service: \`git clone\` of the same repository, \`wrangler deploy --dry-run --outfile\` in the clone, and the first response of that bundle in Miniflare. ${ROUNDS} rounds.`,
  async measure(context) {
    const { folder, signal } = context;
    const dataDirectory = path.join(folder, "data");
    await using service = await startService({ dataDirectory }, signal);
    const deployments: DeployedApp[] = [];
    const bareTimes: BareDeployTimes[] = [];
    const measureService = async (): Promise<number> => {
      const app = await deployApp(service, "hello", signal);
      await app.remove();
      deployments.push(app);
      return app.tookMs;
    };
    const measureBaseline = async (): Promise<number> => {
      const repository = await findExampleRepository(dataDirectory);
      const times = await runBareDeploy(repository, await mkdtemp(path.join(folder, "bare-")), signal);
      bareTimes.push(times);
      return times.clone + times.bundle + times.response;
    };
    const pairs = await measureRounds(context, measureService, measureBaseline);
    return summarize(pairs, deployments.slice(1), bareTimes.slice(1));
  },
};

/** The warm-up round fills caches and creates the repository of the example. It is not part of the result. */
async function measureRounds(
  { log }: BenchContext,
  measureService: () => Promise<number>,
  measureBaseline: () => Promise<number>,
): Promise<Pair[]> {
  const logged = (name: string, measure: () => Promise<number>) => async () => {
    const ms = await measure();
    log(`${name}: ${formatInteger(ms)} ms`);
    return ms;
  };
  await measureAlternately(1, {
    service: logged("warm-up, service", measureService),
    baseline: logged("warm-up, baseline", measureBaseline),
  });
  return measureAlternately(ROUNDS, {
    service: logged("service", measureService),
    baseline: logged("baseline", measureBaseline),
  });
}

/** The service creates a repository for the example in its data folder, with a hash at the end of its name. */
async function findExampleRepository(dataDirectory: string): Promise<string> {
  const folder = path.join(dataDirectory, "examples", "examples");
  const [name] = (await readdir(folder)).filter((entry) => entry.startsWith("hello-"));
  return path.join(folder, name ?? "hello.git");
}

function summarize(pairs: Pair[], deployments: DeployedApp[], bareTimes: BareDeployTimes[]): SectionResult {
  const { ratio, service, baseline } = compare(pairs);
  const statusTimes = deployments.map(({ statusMs }) => statusMs);
  const statuses = [...new Set(statusTimes.flatMap((times) => Object.keys(times)))];
  return {
    metrics: [
      {
        name: "Time to `ready`, relative to the baseline",
        result: ratio.toFixed(2),
        target: { bound: `≤ ${TARGET}`, met: ratio <= TARGET },
        details: `${formatInteger(service)} ms, baseline ${formatInteger(baseline)} ms`,
      },
    ],
    notes: [
      `Time in each status, as a client sees it: ${formatMedians(statuses, statusTimes)}.`,
      `Time of each baseline step: ${formatMedians(["clone", "bundle", "response"], bareTimes)}.`,
    ],
  };
}

function formatMedians<K extends string>(keys: readonly K[], samples: readonly Record<K, number>[]): string {
  return keys.map((key) => `${key} ${formatInteger(median(samples.map((sample) => sample[key] ?? 0)))} ms`).join(", ");
}
