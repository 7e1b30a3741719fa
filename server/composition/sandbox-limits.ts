import type { ReadinessDetails } from "../http/health.ts";
import type { ControlGroups } from "../sandbox/cgroups/control-groups.ts";
import type { OwnGroups } from "../sandbox/cgroups/find-hierarchies.ts";
import { openControlGroups } from "../sandbox/cgroups/open-control-groups.ts";

/** The methods of a logger that report the limits. */
interface LimitsLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * Opens the control groups, and logs what the kernel does not limit on this host.
 *
 * @param own - the groups of this process; by default those that the kernel names
 */
export async function openSandboxGroups(log: LimitsLog, own?: OwnGroups): Promise<ControlGroups> {
  const groups = await openControlGroups(own);
  const { version, controllers, problem } = groups;
  if (problem === null) log.info({ version, controllers }, "the kernel limits sandboxes with control groups");
  else
    log.warn(
      { version, controllers, problem },
      "the kernel does not limit all resources of sandboxes; see docs/operations.md, Limits of the kernel",
    );
  return groups;
}

/** What the kernel limits on this host, and why not more, for operators. */
export function describeLimits(
  { version, controllers, problem }: ControlGroups,
  diskProblem: string | null,
): ReadinessDetails["sandbox_limits"] {
  return { cgroups: version, controllers, problem, disk: diskProblem === null, disk_problem: diskProblem };
}
