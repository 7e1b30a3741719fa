import type { Load, LoadCommands } from "../processes/generate-load.ts";
import { type Partner, startProcess } from "./start-process.ts";

export type LoadGenerator = Partner<LoadCommands>;

/** A process that puts others under load. */
export function startLoadGenerator(signal: AbortSignal): Promise<LoadGenerator> {
  return startProcess(new URL("../processes/generate-load.ts", import.meta.url), {}, signal);
}

/**
 * Asks for one URL over and over, each connection waiting for its answer, from a process of its own.
 *
 * @returns the answers per second
 * @throws when not every answer was a good one, because then something else was measured
 */
export async function requestsPerSecond(load: Load, signal: AbortSignal): Promise<number> {
  await using generator = await startLoadGenerator(signal);
  return (await generator.ask("fire", load)).requestsPerSecond;
}
