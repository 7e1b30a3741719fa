import { mkdtemp, readdir } from "node:fs/promises";
import path from "node:path";
import { type BareParts, bareDeploy } from "./support/bare-deploy.ts";
import { type Deployed, deployApp } from "./support/deploy-app.ts";
import { round } from "./support/format-number.ts";
import { startService } from "./support/start-servers.ts";
import { interleave } from "./support/measure-alternately.ts";
import type { Bench, Findings, Section } from "./support/bench-section.ts";
import { compare, median, type Pair } from "./support/statistics.ts";

const ROUNDS = 7;
const TARGET = 1.3;

export const deploy: Section = {
  name: "deploy",
  title: "Deploying an app",
  method: `From \`POST /v1/apps/deploy\` of \`examples/hello\` to the status \`ready\`, on the embedded defaults, against the sum of its bare parts, each run by itself: \`git clone\` of the same repository, \`wrangler deploy --dry-run --outfile\` in the clone, and the first response of that bundle from Miniflare. ${ROUNDS} rounds.`,
  async measure(bench) {
    const { folder, signal } = bench;
    const dataDirectory = path.join(folder, "data");
    await using service = await startService({ dataDirectory }, signal);
    const deploys: Deployed[] = [];
    const bare: BareParts[] = [];
    const ours = async (): Promise<number> => {
      const app = await deployApp(service, "hello", signal);
      await app.remove();
      deploys.push(app);
      return app.tookMs;
    };
    const theirs = async (): Promise<number> => {
      const parts = await bareDeploy(
        await repositoryIn(dataDirectory),
        await mkdtemp(path.join(folder, "bare-")),
        signal,
      );
      bare.push(parts);
      return parts.clone + parts.bundle + parts.response;
    };
    const pairs = await race(bench, ours, theirs);
    return findings(pairs, deploys.slice(1), bare.slice(1));
  },
};

/** The first round fills caches, makes the repository of the example, and does not count. */
async function race({ say }: Bench, ours: () => Promise<number>, theirs: () => Promise<number>): Promise<Pair[]> {
  const told = (name: string, measure: () => Promise<number>) => async () => {
    const ms = await measure();
    say(`${name}: ${round(ms)} ms`);
    return ms;
  };
  await interleave(1, { ours: told("warm-up, deploy", ours), theirs: told("warm-up, bare parts", theirs) });
  return interleave(ROUNDS, { ours: told("deploy", ours), theirs: told("bare parts", theirs) });
}

/** The service serves its examples from repositories that it makes in its data folder. */
async function repositoryIn(dataDirectory: string): Promise<string> {
  const folder = path.join(dataDirectory, "examples", "examples");
  const [name] = (await readdir(folder)).filter((entry) => entry.startsWith("hello-"));
  return path.join(folder, name ?? "hello.git");
}

function findings(pairs: Pair[], deploys: Deployed[], bare: BareParts[]): Findings {
  const { ratio, ours, theirs } = compare(pairs);
  const of = <K extends string>(keys: readonly K[], samples: readonly Record<K, number>[]) =>
    keys.map((key) => `${key} ${round(median(samples.map((sample) => sample[key] ?? 0)))} ms`).join(", ");
  const statuses = [...new Set(deploys.flatMap(({ statusMs }) => Object.keys(statusMs)))];
  const target = { bound: `≤ ${TARGET}`, met: ratio <= TARGET };
  const detail = `${round(ours)} ms, bare parts ${round(theirs)} ms`;
  return {
    figures: [{ what: "Time to `ready`, as a multiple of its bare parts", measured: ratio.toFixed(2), target, detail }],
    notes: [
      `Where the deploy's time goes, by the status a client sees: ${of(
        statuses,
        deploys.map(({ statusMs }) => statusMs),
      )}.`,
      `Where the bare time goes: ${of(["clone", "bundle", "response"], bare)}.`,
    ],
  };
}
