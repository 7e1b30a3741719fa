import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import path from "node:path";
import { promisify } from "node:util";
import { PROJECT } from "../scripts/pack-package.ts";
import type { BenchContext, Metric, Section } from "./support/bench-section.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { startService } from "./support/start-servers.ts";
import { median } from "./support/statistics.ts";

const APPS = 50;
const ROUNDS = 21;
const TARGETS = { versionMs: 120, listMs: 250 } as const;

export const commandLine: Section = {
  name: "cli",
  title: "The command line",
  method: `The built \`svc\`, each command in a process of its own, from the start of the process until it has ended: \`svc --version\`, and \`svc apps list\` with ${APPS} apps on a service of the same machine. ${ROUNDS} rounds, the two commands in turn, after one round without measurement. A process of Node that evaluates an empty text is measured in the same rounds.`,
  async measure(context) {
    const { folder, signal } = context;
    await run([path.join(PROJECT, "scripts/build-cli.ts"), folder], {});
    await using database = await createScratchDatabase();
    const tokenSecret = randomBytes(32).toString("hex");
    const options = { databaseUrl: database.url, tokenSecret, dataDirectory: folder };
    await using service = await startService(options, signal);
    const { org_id: orgId, api_key: apiKey } = await service.call("createOrganization");
    await service.call("insertAppRows", orgId, APPS);
    const env = { SVC_URL: await service.call("publicUrl"), SVC_TOKEN: apiKey, XDG_CONFIG_HOME: folder };
    const { versionMs, listMs, emptyMs } = await measureCommands(path.join(folder, "cli/svc.js"), env, context);
    return {
      metrics: [
        createMetric("`svc --version`", versionMs, TARGETS.versionMs),
        createMetric("`svc apps list`", listMs, TARGETS.listMs),
        createMetric("Node alone", emptyMs, null),
      ],
      notes: [],
    };
  },
};

async function measureCommands(file: string, env: Record<string, string>, { signal, log }: BenchContext) {
  const times = { versionMs: [] as number[], listMs: [] as number[], emptyMs: [] as number[] };
  const commands = { versionMs: [file, "--version"], listMs: [file, "apps", "list"], emptyMs: ["--eval", ""] };
  for (let round = 0; round <= ROUNDS; round++)
    for (const name of ["versionMs", "listMs", "emptyMs"] as const) {
      signal.throwIfAborted();
      const from = performance.now();
      await run(commands[name], env);
      if (round > 0) times[name].push(performance.now() - from);
    }
  log(`medians of ${ROUNDS} rounds`);
  return { versionMs: median(times.versionMs), listMs: median(times.listMs), emptyMs: median(times.emptyMs) };
}

async function run(args: string[], env: Record<string, string>): Promise<void> {
  const { PATH, HOME } = process.env;
  await promisify(execFile)(process.execPath, args, { env: { PATH, HOME, ...env } });
}

function createMetric(name: string, milliseconds: number, bound: number | null): Metric {
  return {
    name,
    result: `${milliseconds.toFixed(0)} ms`,
    target: bound === null ? null : { bound: `≤ ${bound} ms`, met: milliseconds <= bound },
    details: "median",
  };
}
