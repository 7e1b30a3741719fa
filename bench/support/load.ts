import { fileURLToPath } from "node:url";
import { runProgram } from "./run-program.ts";

const AUTOCANNON = fileURLToPath(import.meta.resolve("autocannon"));

export interface Load {
  url: string;
  headers: Record<string, string>;
  connections: number;
  seconds: number;
}

interface Report {
  requests: { total: number };
  duration: number;
  errors: number;
  non2xx: number;
}

/**
 * Asks for one URL over and over, each connection waiting for its answer, from a process of its own.
 *
 * @returns the answers per second
 * @throws when not every answer was a good one, because then something else was measured
 */
export async function requestsPerSecond(
  { url, headers, connections, seconds }: Load,
  signal: AbortSignal,
): Promise<number> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ["--headers", `${name}=${value}`]);
  const options = ["--json", "--no-progress", "--connections", String(connections), "--duration", String(seconds)];
  const output = await runProgram([process.execPath, AUTOCANNON, ...options, ...fields, url], { signal });
  const { requests, duration, errors, non2xx } = JSON.parse(output) as Report;
  if (errors + non2xx > 0) throw new Error(`${errors} errors and ${non2xx} refusals under load`);
  return requests.total / duration;
}
