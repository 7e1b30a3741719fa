import type { ScriptVersion } from "../script-version.ts";
import type { RunningApp } from "./running-app.ts";

/** The part of all processes that the apps of one organization may have. The rest is left to the apps of others. */
const LARGEST_SHARE = 3 / 4;

interface Processes {
  running: readonly RunningApp[];
  /** The versions whose processes start, with the one that needs room. */
  starting: ReadonlySet<ScriptVersion>;
  maxActive: number;
  /** Whether an app continues to run when it is idle. */
  isKept: (appId: string) => boolean;
}

/** Why a version cannot start beside the other processes. */
interface Shortage {
  /** An idle app that can stop for it; `undefined` if there is none. */
  toStop: RunningApp | undefined;
  message: string;
}

/**
 * Stops idle apps until a version fits beside the other processes: those of the same organization if it exceeds its largest
 * share, and otherwise first those of organizations that have more than an equal share.
 *
 * @returns why it does not fit, if no app can be stopped; otherwise `null`
 */
export async function makeRoom(
  version: ScriptVersion,
  readProcesses: () => Processes,
  stopIdle: (app: RunningApp) => Promise<void>,
): Promise<string | null> {
  for (;;) {
    const shortage = findShortage(version, readProcesses());
    if (shortage === null) return null;
    if (shortage.toStop === undefined) return shortage.message;
    await stopIdle(shortage.toStop);
  }
}

function findShortage(version: ScriptVersion, { running, starting, maxActive, isKept }: Processes): Shortage | null {
  const versions = [...starting, ...running.map((app) => app.version)];
  const shares = Map.groupBy(versions, organizationOf);
  const sizeOf = (of: ScriptVersion) => shares.get(organizationOf(of))?.length ?? 0;
  const stoppable = running
    .filter((app) => app.isIdle && !isKept(app.version.appId))
    .toSorted((a, b) => a.lastUsedMs - b.lastUsedMs);
  if (sizeOf(version) > Math.max(1, Math.floor(maxActive * LARGEST_SHARE)))
    return {
      toStop: stoppable.find((app) => organizationOf(app.version) === organizationOf(version)),
      message: "The apps of this organization use all processes that it may have. Try again shortly.",
    };
  if (versions.length <= maxActive) return null;
  const equalShare = maxActive / shares.size;
  return {
    toStop: stoppable.find((app) => sizeOf(app.version) > equalShare) ?? stoppable[0],
    message: "All processes for apps are in use. Try again shortly.",
  };
}

/** Versions that an earlier version of the service published name no organization. Each then counts for itself. */
function organizationOf({ organizationId, appId }: ScriptVersion): string {
  return organizationId ?? appId;
}
