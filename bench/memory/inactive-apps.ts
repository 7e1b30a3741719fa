import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { round } from "../support/format-number.ts";
import { proportionalMb } from "../support/process-memory.ts";
import { startService } from "../support/start-servers.ts";
import { interleave } from "../support/measure-alternately.ts";
import type { Bench, Figure } from "../support/bench-section.ts";
import { median } from "../support/statistics.ts";
import { timed, visit } from "../support/request-app.ts";

const APPS = 1_000;
const ROUNDS = 5;
const TARGET_MB = 1;
/** Long enough for the sweep that follows every start. */
const SETTLE_MS = 2_000;

/** What apps cost that nobody asks for, and whether they still come when they are asked for. */
export async function measureInactiveApps(bench: Bench): Promise<Figure[]> {
  const [none, many] = [path.join(bench.folder, "none"), path.join(bench.folder, "many")];
  await register(none, 0, bench.signal);
  const slugs = await register(many, APPS, bench.signal);
  bench.say(`registered ${slugs.length} apps`);
  return [await measureGrowth(none, many, bench), await measureFirstRequest(many, slugs, bench.signal)];
}

/** By a service that ends then: what registering leaves on its heap is no cost of the apps. */
async function register(dataDirectory: string, count: number, signal: AbortSignal): Promise<string[]> {
  await using service = await startService({ dataDirectory }, signal);
  const { org_id: orgId } = await service.ask("found");
  return await service.ask("registerApps", orgId, count);
}

async function measureGrowth(none: string, many: string, { signal, say }: Bench): Promise<Figure> {
  const wholeMb = { none: [] as number[], many: [] as number[] };
  const usedMb = async (dataDirectory: string, whole: number[]): Promise<number> => {
    await using service = await startService({ dataDirectory }, signal);
    await sleep(SETTLE_MS, null, { signal });
    const used = await service.ask("usedMb");
    whole.push(await proportionalMb(service.pid));
    return used;
  };
  const pairs = await interleave(ROUNDS, {
    ours: () => usedMb(many, wholeMb.many),
    theirs: () => usedMb(none, wholeMb.none),
  });
  const growths = pairs.map(({ ours, theirs }) => ours - theirs);
  say(`growth: ${growths.map((mb) => mb.toFixed(2)).join(", ")} MB`);
  const growth = median(growths);
  return {
    what: `Growth of the service by ${round(APPS)} registered, inactive apps`,
    measured: `${growth.toFixed(2)} MB`,
    target: { bound: `none (< ${TARGET_MB} MB)`, met: growth < TARGET_MB },
    detail: `in use after a collection; the whole process: ${range(wholeMb.many)} MB with them, ${range(wholeMb.none)} MB without`,
  };
}

/** The size of the process differs from start to start by more than the apps could cost. */
function range(sizes: readonly number[]): string {
  return `${round(Math.min(...sizes))}–${round(Math.max(...sizes))}`;
}

async function measureFirstRequest(dataDirectory: string, slugs: string[], signal: AbortSignal): Promise<Figure> {
  await using service = await startService({ dataDirectory }, signal);
  const url = await service.ask("urlOf", slugs[Math.floor(slugs.length / 2)] ?? "");
  const ms = await timed(() => visit(url, signal));
  const detail = "of a service that had started no app yet";
  return { what: "First request to one of them", measured: `answered in ${round(ms)} ms`, target: null, detail };
}
