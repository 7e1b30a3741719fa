import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BenchContext, Metric, Section } from "./support/bench-section.ts";
import { descendantsMb, proportionalMb } from "./support/process-memory.ts";
import { median } from "./support/statistics.ts";

const PROJECT = fileURLToPath(new URL("..", import.meta.url));
const ROUNDS = 3;
/** The time from ready to idle, in milliseconds. By then the first sweep has ended and the compiled code is saved. */
const IDLE_MS = 12_000;
const POLL_MS = 20;
const TARGETS = { firstMs: 3000, laterMs: 1500, idleMb: 260, peakMb: 320 } as const;
const READY = /The service is ready at (\S+)/;

export const startup: Section = {
  name: "startup",
  title: "Start and idle memory",
  method: `The service on the embedded defaults, as \`npm start\` runs it after \`npm run setup\`, from the start of the process until \`GET /readyz\` responds with 200: ${ROUNDS} times with an empty data folder (first start), and ${ROUNDS} times with the folder of an earlier start (later start). Memory is the proportional set size (PSS) of the service, PostgreSQL and every other child process together: the largest value during the measurement (peak), and the value ${IDLE_MS / 1000} s after the service is ready, without a request (idle).`,
  async measure(context) {
    await promisify(execFile)(process.execPath, ["scripts/build-service.ts"], { cwd: PROJECT });
    const first: Start[] = [];
    const later: Start[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const folder = path.join(context.folder, `data-${round}`);
      first.push(await measureStart(folder, context));
      later.push(await measureStart(folder, context));
      context.log(`round ${round + 1}: ${describe(first.at(-1))}; ${describe(later.at(-1))}`);
    }
    const all = [...first, ...later];
    return {
      metrics: [
        createMetric("First start", "ms", TARGETS.firstMs, median(first.map(({ ms }) => ms)), cpuDetails(first)),
        createMetric("Later starts", "ms", TARGETS.laterMs, median(later.map(({ ms }) => ms)), cpuDetails(later)),
        createMetric("Memory, idle", "MB", TARGETS.idleMb, median(later.map(({ idleMb }) => idleMb)), "median"),
        createMetric("Memory, peak", "MB", TARGETS.peakMb, Math.max(...all.map(({ peakMb }) => peakMb)), "maximum"),
      ],
      notes: [
        "The CPU time is that of the service's own process until it is ready. Other programs on the machine affect it less than the elapsed time.",
      ],
    };
  },
};

interface Start {
  ms: number;
  /** CPU time of the service's own process until it is ready, in milliseconds. */
  cpuMs: number;
  peakMb: number;
  idleMb: number;
}

async function measureStart(dataDirectory: string, { signal }: BenchContext): Promise<Start> {
  const { PATH, HOME } = process.env;
  const from = performance.now();
  const child = spawn(process.execPath, ["server/main.ts"], {
    cwd: PROJECT,
    env: {
      PATH,
      HOME,
      DATA_DIR: dataDirectory,
      PORT: "0",
      EDGE_PORT: "0",
      LOG_LEVEL: "silent",
      NODE_COMPILE_CACHE: ".cache/service",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const pid = child.pid ?? 0;
  let peakMb = 0;
  const memory = setInterval(() => void totalMb(pid).then((mb) => (peakMb = Math.max(peakMb, mb))), POLL_MS * 5);
  try {
    await untilReady(child, signal);
    const ms = performance.now() - from;
    const cpuMs = await cpuTimeMs(pid);
    await sleep(IDLE_MS, null, { signal });
    return { ms, cpuMs, peakMb, idleMb: await totalMb(pid) };
  } finally {
    clearInterval(memory);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
}

async function untilReady(child: ChildProcess, signal: AbortSignal): Promise<void> {
  const url = await new Promise<string>((resolve, reject) => {
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      output += String(chunk);
      const found = READY.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`The service ended with exit code ${code}`)));
  });
  while (!(await fetch(`${url}/readyz`, { signal })).ok) await sleep(POLL_MS, null, { signal });
}

/** A process that ends during the measurement counts as 0. */
async function totalMb(pid: number): Promise<number> {
  const own = await proportionalMb(pid).catch(() => 0);
  const { mb } = await descendantsMb(pid).catch(() => ({ mb: 0 }));
  return own + mb;
}

async function cpuTimeMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Fields 14 and 15 of proc(5), in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function createMetric(name: string, unit: string, bound: number, value: number, details: string): Metric {
  return {
    name,
    result: `${value.toFixed(0)} ${unit}`,
    target: { bound: `≤ ${bound} ${unit}`, met: value <= bound },
    details,
  };
}

function cpuDetails(starts: readonly Start[]): string {
  return `median; CPU time of the service ${median(starts.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms`;
}

function describe(start: Start | undefined): string {
  if (start === undefined) return "";
  return `${start.ms.toFixed(0)} ms, CPU ${start.cpuMs} ms, ${start.idleMb.toFixed(0)} MB idle, ${start.peakMb.toFixed(0)} MB peak`;
}
