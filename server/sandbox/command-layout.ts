import type { Mount, SandboxCommand } from "../ports/sandbox.ts";
import type { BubblewrapLayout } from "./bubblewrap-arguments.ts";
import { shellLimits } from "./resource-limits.ts";
import { proxyVariables, SANDBOX_NODE, SANDBOX_PROXY_URL } from "./sandbox-environment.ts";

const PROXY_SOCKET = "/run/proxy.sock";
const BRIDGE = "/opt/sandbox/proxy-bridge.mjs";

/** The file descriptor on which bubblewrap reports its status. */
export const STATUS_DESCRIPTOR = 3;

/** The file descriptor from which bubblewrap reads options that must not appear in a process list. */
export const OPTIONS_DESCRIPTOR = 4;

/** The file descriptor from which bubblewrap reads the system call filter. */
export const FILTER_DESCRIPTOR = 5;

/** The command's standard error, if it is separate. Descriptor 2 of the child is the standard error of bubblewrap. */
export const ERRORS_DESCRIPTOR = 6;

/** `script`: a script inside sets the limits and then executes the command. `direct`: see `directLayout`. */
export type StartMode = "script" | "direct";

/** From which the sandbox reads when the command may start. In mode `script`, it is the standard input of the script. */
export const START_DESCRIPTORS: Readonly<Record<StartMode, number>> = { script: 0, direct: 6 };

export interface CommandSandboxOptions {
  /** The Node.js that commands find as `SANDBOX_NODE`; `null` for none. */
  nodePath: string | null;
  programs: "all" | "tools";
  temporaryMb: number;
}

/** The sandbox of a command that runs to its end. */
export function commandLayout(
  command: SandboxCommand,
  { nodePath, programs, temporaryMb }: CommandSandboxOptions,
): BubblewrapLayout {
  return {
    programs,
    // A command with a proxy reaches it through a socket file, so it needs no network either.
    network: "none",
    mounts: [...nodeMounts(nodePath), ...proxyMounts(command), ...layeredMounts(command), ...command.mounts],
    layered: command.layered,
    temporaryMb,
    filterDescriptor: FILTER_DESCRIPTOR,
    options: ["--json-status-fd", String(STATUS_DESCRIPTOR), "--args", String(OPTIONS_DESCRIPTOR)],
    cwd: command.cwd,
    argv: startArguments(command),
  };
}

/**
 * The sandbox of a command that starts without a shell inside, which would need 1 ms of CPU time. Its standard input is at
 * its end, its standard error is separate, and whoever starts the sandbox has set its limits.
 */
export function directLayout(layout: BubblewrapLayout, { argv }: SandboxCommand): BubblewrapLayout {
  const start = ["--block-fd", String(START_DESCRIPTORS.direct)];
  return { ...layout, options: [...layout.options, ...start], argv: [...argv] };
}

/** The options that bubblewrap reads from `OPTIONS_DESCRIPTOR`: the environment, because arguments are public. */
export function environmentOptions({ env, network }: SandboxCommand): string {
  const proxy = network.kind === "proxy" ? proxyVariables(SANDBOX_PROXY_URL) : {};
  const variables = Object.entries({ ...env, ...proxy });
  const options = ["--clearenv", ...variables.flatMap(([name, value]) => ["--setenv", name, value])];
  // Each one ends so: the last one may be an empty value.
  return options.map((option) => `${option}\0`).join("");
}

function nodeMounts(nodePath: string | null): Mount[] {
  return nodePath === null ? [] : [{ from: nodePath, to: SANDBOX_NODE, writable: false, shared: true }];
}

function layeredMounts({ layered }: SandboxCommand): Mount[] {
  return layered === undefined ? [] : [{ from: layered.merged, to: layered.to, writable: true }];
}

function proxyMounts({ network }: SandboxCommand): Mount[] {
  if (network.kind !== "proxy") return [];
  return [
    { from: network.socketPath, to: PROXY_SOCKET, writable: false },
    { from: `${import.meta.dirname}/inside/proxy-bridge.mjs`, to: BRIDGE, writable: false },
  ];
}

/**
 * Starts the command inside with a shell that runs a fixed script. The script waits for the line `go`, sets the limits,
 * and joins standard output and standard error in the order they are written, unless the caller receives them separately.
 * The limits are set inside, where the limit on processes counts this sandbox only, even if all sandboxes run as one user.
 */
function startArguments({ argv, limits, network, onErrorOutput }: SandboxCommand): string[] {
  const bridge = network.kind === "proxy" ? [SANDBOX_NODE, BRIDGE, PROXY_SOCKET] : [];
  const errors = onErrorOutput ? `2>&${ERRORS_DESCRIPTOR} ${ERRORS_DESCRIPTOR}>&-` : "2>&1";
  const { script, values } = shellLimits(limits);
  const start = `read -r go || exit; ${script}; exec "$@" </dev/null ${errors}`;
  return ["sh", "-c", start, "sh", ...values, ...bridge, ...argv];
}
