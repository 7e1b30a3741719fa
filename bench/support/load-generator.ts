import type { Load, LoadCommands } from "../processes/generate-load.ts";
import { type CommandProcess, startProcess } from "./start-process.ts";

export type LoadGenerator = CommandProcess<LoadCommands>;

/** Starts a process that generates load. */
export function startLoadGenerator(signal: AbortSignal): Promise<LoadGenerator> {
  return startProcess(new URL("../processes/generate-load.ts", import.meta.url), {}, signal);
}

/**
 * Sends requests from a process of its own, and returns the responses per second.
 *
 * @throws when a response is not the expected one
 */
export async function measureRequestRate(load: Load, signal: AbortSignal): Promise<number> {
  await using generator = await startLoadGenerator(signal);
  return (await generator.call("generateLoad", load)).requestsPerSecond;
}
