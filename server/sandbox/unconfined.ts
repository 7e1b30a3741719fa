import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { dirname } from "node:path";
import type { Sandbox, SandboxCommand, SandboxOutcome } from "../../domain/ports/sandbox.ts";
import { hostPaths } from "./host-paths.ts";
import { SANDBOX_NODE } from "./sandbox-environment.ts";
import { killIfThere, killMarked, markOf } from "./process-mark.ts";
import { reopen, writableFolders } from "./file-ownership.ts";
import { proxyVariables } from "./proxy-variables.ts";
import { monitorProcess } from "./monitor-process.ts";

const MEBIBYTE = 1024 * 1024;

export interface UnconfinedOptions {
  /** The Node.js that commands find as `SANDBOX_NODE`. */
  nodePath?: string;
}

/**
 * Runs commands as plain children of the service, with all its rights: for hosts without namespaces, and for people
 * who trust every repository they deploy. Limits on time, memory, disk, file size and output hold; those on processes,
 * files and network do not, and a command outlives a service that is killed.
 *
 * Nothing is mounted. Where a command, its environment or its folder names a path inside the sandbox, it is given the
 * path of the host instead.
 */
export class UnconfinedSandbox implements Sandbox {
  readonly #nodePath: string;

  constructor({ nodePath = process.execPath }: UnconfinedOptions = {}) {
    this.#nodePath = nodePath;
  }

  async run(command: SandboxCommand): Promise<SandboxOutcome> {
    if (command.signal.aborted) return { ended: "aborted" };
    const bridge = command.network.kind === "proxy" ? await openBridge(command.network.socketPath) : null;
    try {
      return await runChild(onHost(command, this.#nodePath, bridge));
    } finally {
      bridge?.close();
    }
  }
}

/** The same command in terms of the host. */
function onHost(command: SandboxCommand, nodePath: string, bridge: Server | null): SandboxCommand {
  const toHost = hostPaths([{ from: dirname(nodePath), to: dirname(SANDBOX_NODE) }, ...command.mounts]);
  const proxied = bridge ? proxyVariables(`http://127.0.0.1:${(bridge.address() as AddressInfo).port}`) : {};
  const env = Object.entries({ ...command.env, ...proxied }).map(([name, value]) => [name, toHost(value)]);
  const [program, ...programArguments] = command.argv;
  return {
    ...command,
    argv: [toHost(program), ...programArguments.map(toHost)],
    cwd: toHost(command.cwd),
    env: Object.fromEntries(env),
  };
}

async function runChild(command: SandboxCommand): Promise<SandboxOutcome> {
  const run = randomUUID();
  const bounds = ["--core=0", `--fsize=${command.limits.fileSizeMb * MEBIBYTE}`];
  const apart = command.onErrorOutput !== undefined;
  // The shell joins the two outputs into one, in the order they were written.
  const child = spawn(
    "/bin/sh",
    ["-c", `exec "$@"${apart ? "" : " 2>&1"}`, "sh", "prlimit", ...bounds, "--", ...command.argv],
    {
      cwd: command.cwd,
      env: { ...command.env, ...markOf(run) },
      stdio: ["ignore", "pipe", apart ? "pipe" : "ignore"],
      detached: true,
    },
  );
  const { bound, code, signal } = await monitorProcess(
    {
      child,
      errors: child.stderr,
      kill: () => child.pid !== undefined && killIfThere(-child.pid),
      endRest: async () => {
        await killMarked(run);
        await reopen(writableFolders(command));
      },
    },
    command,
  );
  if (bound) return { ended: bound };
  return signal === null ? { ended: "exit", code: code ?? 0 } : { ended: "signal", signal };
}

/** Programs speak to a proxy by TCP only, so the socket is offered on a port of this host while the command runs. */
async function openBridge(socketPath: string): Promise<Server> {
  const bridge = createServer((inside) => {
    const outside = connect(socketPath);
    inside.pipe(outside).pipe(inside);
    inside.on("error", () => outside.destroy());
    outside.on("error", () => inside.destroy());
  });
  await once(bridge.listen(0, "127.0.0.1"), "listening");
  return bridge;
}
