import { setTimeout as sleep } from "node:timers/promises";
import { callUntilDone } from "../support/call-until-done.ts";
import { callTool, type GatewayClient } from "../support/mcp-client.ts";
import type { Execution, HostileProgram } from "./hostile-programs.ts";

/** The interval of the other organizations' calls, in milliseconds. */
export const CALL_INTERVAL_MS = 50;
/** How long each hostile program is repeated, in milliseconds. */
export const HOSTILE_MS = 4_000;

/** The effect of one hostile program on other organizations. */
export interface HostileRun {
  description: string;
  /** The number of executions by how they exited. */
  exits: Map<string, number>;
  /** The durations of the other organizations' calls, in milliseconds. */
  callMs: number[];
}

/** Measures the calls of the other organizations while no program runs. */
export function measureIdleCalls(others: readonly GatewayClient[]): Promise<number[]> {
  return measureCallsDuring(sleep(HOSTILE_MS), others);
}

/**
 * Runs a program repeatedly, `concurrency` times in parallel, while other organizations call another tool.
 *
 * @throws when a program was not contained
 */
export async function runHostileProgram(
  { description, code, isContained }: HostileProgram,
  concurrency: number,
  hostile: GatewayClient,
  others: readonly GatewayClient[],
): Promise<HostileRun> {
  const exits = new Map<string, number>();
  const deadline = performance.now() + HOSTILE_MS;
  const repeat = async (): Promise<void> => {
    do {
      const execution = await callTool<Execution>(hostile, "service_execute", { code, timeout_ms: HOSTILE_MS });
      if (!isContained(execution))
        throw new Error(`The program was not contained: ${description}: ${JSON.stringify(execution).slice(0, 2000)}`);
      const exit = formatExit(execution);
      exits.set(exit, (exits.get(exit) ?? 0) + 1);
    } while (performance.now() < deadline);
  };
  const callMs = await measureCallsDuring(Promise.all(Array.from({ length: concurrency }, repeat)), others);
  return { description, exits, callMs };
}

/** The organizations take turns, because the number of calls of one organization is limited. */
function measureCallsDuring(work: Promise<unknown>, others: readonly GatewayClient[]): Promise<number[]> {
  const call = async (index: number): Promise<void> => {
    const other = others[index % others.length];
    if (other === undefined) throw new Error("At least one other organization is required.");
    await callTool(other, "service_list_apps", {});
  };
  return callUntilDone(work, call, CALL_INTERVAL_MS);
}

function formatExit({ exit_code, timed_out }: Execution): string {
  return timed_out ? `exit code ${exit_code}, timed out` : `exit code ${exit_code}`;
}
