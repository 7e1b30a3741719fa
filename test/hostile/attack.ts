import type { ControlGroups } from "../../server/sandbox/cgroups/control-groups.ts";

export interface AttackEnvironment {
  /** The control groups of the sandboxes that are attacked. */
  groups: ControlGroups;
  /** An empty folder for this attack. */
  folder: string;
}

/** What an attack achieved. */
export interface AttackResult {
  isContained: boolean;
  /** What happened, in a few words. */
  text: string;
}

export interface Attack {
  name: string;
  /** Where the hostile code is; `API`: a client, which no control group limits. */
  through: "build" | "app" | "program" | "API";
  run(environment: AttackEnvironment): Promise<AttackResult>;
}

/** Judges an attack that tries to hold as much of a resource as it can, in MiB. */
export function judgeHeld(heldMb: number, limitMb: number, end: string): AttackResult {
  const isContained = heldMb <= limitMb;
  return { isContained, text: `${heldMb} MiB with a limit of ${limitMb} MiB, ${end}` };
}
