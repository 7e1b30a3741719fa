import { setTimeout as sleep } from "node:timers/promises";
import { callsWhile } from "../support/call-until-done.ts";
import { callTool, type GatewayClient } from "../support/mcp-client.ts";
import type { Execution, HostileProgram } from "./hostile-programs.ts";

/** How often the others call, one call at a time, in milliseconds. */
export const CALL_EVERY_MS = 50;
/** How long each program is run over and over, in milliseconds. */
export const HOSTILE_MS = 4_000;
export interface Disturbance {
  what: string;
  /** How each program ended, in words, and how many did. */
  endings: Map<string, number>;
  /** How long the others' calls took, in milliseconds. */
  callMs: number[];
}

/** How long the others' calls take when there is nobody else. */
export function callsInPeace(others: readonly GatewayClient[]): Promise<number[]> {
  return othersWhile(sleep(HOSTILE_MS), others);
}

/**
 * Runs a program over and over, some of it at a time, while other organizations call a tool that has nothing to do with it.
 *
 * @throws when one of the programs was not contained
 */
export async function disturb(
  { what, code, isContained }: HostileProgram,
  atATime: number,
  hostile: GatewayClient,
  others: readonly GatewayClient[],
): Promise<Disturbance> {
  const endings = new Map<string, number>();
  const until = performance.now() + HOSTILE_MS;
  const repeat = async (): Promise<void> => {
    do {
      const end = await callTool<Execution>(hostile, "service_execute", { code, timeout_ms: HOSTILE_MS });
      if (!isContained(end)) throw new Error(`Not contained, ${what}: ${JSON.stringify(end).slice(0, 2000)}`);
      const ending = inWords(end);
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
    } while (performance.now() < until);
  };
  const callMs = await othersWhile(Promise.all(Array.from({ length: atATime }, repeat)), others);
  return { what, endings, callMs };
}

/** They take turns, because the number of an organization's calls is limited. */
function othersWhile(work: Promise<unknown>, others: readonly GatewayClient[]): Promise<number[]> {
  const call = async (at: number): Promise<void> => {
    const other = others[at % others.length];
    if (other === undefined) throw new Error("There are no others");
    await callTool(other, "service_list_apps", {});
  };
  return callsWhile(work, call, CALL_EVERY_MS);
}

function inWords({ exit_code, timed_out }: Execution): string {
  return timed_out ? `exit code ${exit_code}, timed out` : `exit code ${exit_code}`;
}
