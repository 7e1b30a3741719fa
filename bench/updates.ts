import path from "node:path";
import { formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import type { BenchRepository } from "./support/bench-repository.ts";
import { measureTime } from "./support/measure-alternately.ts";
import { type ServiceProcess, startService } from "./support/start-servers.ts";
import { compare, median } from "./support/statistics.ts";
import { type RequestsDuring, requestsDuring } from "./updates/requests-during.ts";
import { createTemplateRepository } from "./updates/template-repository.ts";
import { deployForUpdates, type UpdatedApp } from "./updates/updated-app.ts";

const ROUNDS = 4;
const REDEPLOY_TARGET = 0.6;
const ROLLBACK_TARGET_MS = 2000;
const REQUESTS = 10_000;
const SWITCHES = 4;
const REUSED = "Dependencies are unchanged";

export const updates: Section = {
  name: "updates",
  title: "Updating an app",
  method: `The React template of create-vite, with a lockfile. Each of ${ROUNDS} rounds deploys it in a new organization, commits a change of the source, deploys it again and rolls back, each until the status \`ready\`. Before them, a warm-up round fills the cache of packages. *Under load:* ${SWITCHES} rollbacks switch between the two versions, while 16 connections send at least ${formatInteger(REQUESTS)} requests to the app. A request fails if its status is not 200.`,
  async measure({ folder, signal, log }) {
    const repository = await createTemplateRepository(folder, signal);
    const options = { dataDirectory: path.join(folder, "data"), gitBaseUrl: repository.gitBaseUrl };
    await using service = await startService(options, signal);
    const rounds: Round[] = [];
    for (let count = 0; count <= ROUNDS; count++) {
      const round = await measureRound(service, repository, { isLast: count === ROUNDS, signal });
      log(
        `first ${formatInteger(round.firstMs)} ms, again ${formatInteger(round.againMs)} ms, rollback ${formatInteger(round.rollbackMs)} ms`,
      );
      if (count > 0) rounds.push(round);
    }
    return { metrics: summarize(rounds), notes: [] };
  },
};

interface Round {
  firstMs: number;
  againMs: number;
  rollbackMs: number;
  /** Only of the last round. */
  load: RequestsDuring | null;
}

async function measureRound(
  service: ServiceProcess,
  { repo, change }: BenchRepository,
  { isLast, signal }: { isLast: boolean; signal: AbortSignal },
): Promise<Round> {
  const startedAt = performance.now();
  await using app = await deployForUpdates(service, repo, signal);
  const firstMs = performance.now() - startedAt;
  await change();
  const againMs = await measureTime(() => app.redeploy());
  if (!(await app.readLog(2)).includes(REUSED)) throw new Error("The second deployment installed again.");
  const rollbackMs = await measureTime(() => app.rollBack(1));
  const load = isLast ? await requestsDuring(switchVersions(app), app.url, REQUESTS) : null;
  return { firstMs, againMs, rollbackMs, load };
}

async function switchVersions(app: UpdatedApp): Promise<void> {
  for (let count = 0; count < SWITCHES; count++) await app.rollBack(count % 2 === 0 ? 2 : 1);
}

function summarize(rounds: readonly Round[]): Metric[] {
  const { ratio, service, baseline } = compare(
    rounds.map(({ firstMs, againMs }) => ({ service: againMs, baseline: firstMs })),
  );
  const rollbacksMs = rounds.map((round) => round.rollbackMs);
  const rollbackMs = median(rollbacksMs);
  const { requests, failures } = rounds.at(-1)?.load ?? { requests: 0, failures: [] };
  return [
    {
      name: "Deploying again with an unchanged lockfile, relative to the first deployment",
      result: ratio.toFixed(2),
      target: { bound: `≤ ${REDEPLOY_TARGET}`, met: ratio <= REDEPLOY_TARGET },
      details: `${formatInteger(service)} ms, first ${formatInteger(baseline)} ms`,
    },
    {
      name: "Rollback",
      result: `${formatInteger(rollbackMs)} ms`,
      target: { bound: `≤ ${formatInteger(ROLLBACK_TARGET_MS)} ms`, met: rollbackMs <= ROLLBACK_TARGET_MS },
      details: `slowest ${formatInteger(Math.max(...rollbacksMs))} ms of ${rollbacksMs.length}`,
    },
    {
      name: `Failed requests during ${SWITCHES} switches`,
      result: `${failures.length} of ${formatInteger(requests)}`,
      target: { bound: `0 of ${formatInteger(REQUESTS)}`, met: failures.length === 0 },
      details: [...new Set(failures)].slice(0, 3).join(", "),
    },
  ];
}
