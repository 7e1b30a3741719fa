import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { resolve } from "node:path";
import type { Mount, SandboxCommand } from "../../domain/ports/sandbox.ts";
import { SANDBOX_NODE, SANDBOX_PROXY_URL } from "./sandbox-environment.ts";
import { proxyVariables } from "./proxy-variables.ts";

const MEBIBYTE = 1024 * 1024;
const PROXY_SOCKET = "/run/proxy.sock";
const BRIDGE = "/opt/sandbox/proxy-bridge.mjs";

/** Where this service is installed. */
const PROJECT = resolve(import.meta.dirname, "../..");

/** The descriptor on which bubblewrap reports, and the one from which it reads what nobody may see in a process list. */
export const STATUS_DESCRIPTOR = 3;
export const SECRETS_DESCRIPTOR = 4;

/** The command's standard error, where it is kept apart: the descriptor 2 that we give is bubblewrap's own. */
export const ERRORS_DESCRIPTOR = 5;

/**
 * A pid namespace around bubblewrap that dies when we do: bubblewrap leaves a process behind when it is killed while it
 * makes a sandbox, and once it has given up root's rights it cannot kill the process of another user.
 */
const MORTAL = [
  ...["setpriv", "--pdeathsig", "KILL", "--"],
  ...["unshare", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child=KILL", "--"],
] as const;

/**
 * Makes the sandbox the kernel's first choice when the host runs out of memory: what a sandbox takes of the page cache
 * or in pipes counts for no process.
 */
const EXPENDABLE = ["choom", "--adjust", "1000", "--"] as const;

export interface Layout {
  nodePath: string;
  temporaryMb: number;
}

/**
 * The command line of one sandboxed command.
 *
 * @param uid - whom the command runs as, on a host where we are root; `null` runs it as ourselves
 */
export function bubblewrapCommandLine(
  command: SandboxCommand,
  layout: Layout,
  uid: number | null,
): [string, ...string[]] {
  const inside = [...scratchSpace(layout), "--chdir", command.cwd, "--", ...launch(command)];
  const files = fileSystem(command, layout);
  if (uid === null) return [...EXPENDABLE, "bwrap", ...isolation(), ...files, ...inside];
  // The slot's user must not own the mount points, and need not be able to reach what is mounted (a data folder that
  // only root may enter), so root arranges the files and the slot's user isolates itself in them.
  const arranged = ["bwrap", "--bind", "/proc", "/proc", "--dev", "/dev", ...files, "--"];
  const asSlot = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--no-new-privs", "--"];
  return [...EXPENDABLE, ...MORTAL, ...arranged, ...asSlot, "bwrap", ...isolation(), "--bind", "/", "/", ...inside];
}

/** What `bwrap --args` reads: the whole environment, because the arguments of a process are public. */
export function bubblewrapSecrets({ env, network }: SandboxCommand): string {
  const proxied = network.kind === "proxy" ? proxyVariables(SANDBOX_PROXY_URL) : {};
  const variables = Object.entries({ ...env, ...proxied });
  return ["--clearenv", ...variables.flatMap(([name, value]) => ["--setenv", name, value])].join("\0");
}

/** Without `--disable-userns` the command could make itself root of a namespace of its own and reach more of the kernel. */
function isolation(): string[] {
  return [
    ...["--unshare-user", "--unshare-all", "--disable-userns"],
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"],
    ...["--json-status-fd", String(STATUS_DESCRIPTOR), "--args", String(SECRETS_DESCRIPTOR)],
  ];
}

function fileSystem(command: SandboxCommand, layout: Layout): string[] {
  const { mounts, network } = command;
  const ours: Mount[] = [
    { from: layout.nodePath, to: SANDBOX_NODE, writable: false },
    ...(network.kind === "proxy"
      ? [
          { from: network.socketPath, to: PROXY_SOCKET, writable: false },
          { from: `${import.meta.dirname}/inside/proxy-bridge.mjs`, to: BRIDGE, writable: false },
        ]
      : []),
  ];
  // Parents first, or a folder would hide what was mounted inside it before.
  const ordered = [...ours, ...mounts].toSorted((a, b) => (a.to < b.to ? -1 : 1));
  checkNesting(ordered);
  return [
    ...systemPrograms(),
    ...foldersAbove(["/proc/.", "/dev/.", "/tmp/.", "/etc/ssl/.", ...ordered.map((mount) => mount.to)]),
    ...systemFiles(),
    ...ordered.flatMap(({ from, to, writable }) => [writable ? "--bind" : "--ro-bind", from, to]),
    ...["--remount-ro", "/"],
  ];
}

/** Bubblewrap, which may be root here, would follow a link that an earlier command put in the way of a mount. */
function checkNesting(mounts: readonly Mount[]): void {
  const hostile = mounts.filter((mount) => mount.writable);
  const nested = mounts.find((mount) => hostile.some((outer) => mount.to.startsWith(`${outer.to}/`)));
  if (nested) throw new Error(`${nested.to} cannot be mounted inside a writable mount`);
}

/** Left to itself, bubblewrap would make the folders that lead to a mount for their owner only. */
function foldersAbove(paths: readonly string[]): string[] {
  const above = paths.flatMap((path) => path.split("/").map((_, depth, parts) => parts.slice(0, depth).join("/")));
  const folders = [...new Set(above)].filter(Boolean).toSorted();
  return folders.flatMap((folder) => ["--dir", folder]);
}

/** `/usr`, and what systems keep beside it: links into it nowadays, folders of their own formerly. */
function systemPrograms(): string[] {
  const beside = ["/bin", "/sbin", "/lib", "/lib32", "/lib64"].flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) return [];
    return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
  return ["--ro-bind", "/usr", "/usr", ...beside, ...withoutSecrets()];
}

/**
 * What lies below `/usr` and is not a program: configuration, where npm's file may hold the registry's credentials, and
 * sources, where services are often installed with their settings and data.
 */
function withoutSecrets(): string[] {
  const hidden = ["/usr/etc", "/usr/local/etc", "/usr/src", "/usr/local/src", PROJECT];
  const there = hidden.filter((path) => path.startsWith("/usr/") && existsSync(path));
  const outermost = there.filter((path) => !there.some((above) => path.startsWith(`${above}/`)));
  return outermost.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]);
}

/** The least a program expects of `/etc`; there is no name service, and no account but a made-up one. */
function systemFiles(): string[] {
  const madeUp = ["passwd", "group", "hosts", "nsswitch.conf"];
  const shared = ["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/alternatives", "/etc/ld.so.cache"];
  return [
    ...madeUp.flatMap((name) => ["--ro-bind", `${import.meta.dirname}/inside/etc/${name}`, `/etc/${name}`]),
    ...shared.flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

/** Every place the command can write outside its mounts is a bounded piece of memory. */
function scratchSpace({ temporaryMb }: Layout): string[] {
  const bounded = ["--perms", "1777", "--size", String(temporaryMb * MEBIBYTE), "--tmpfs"];
  return [
    ...["--proc", "/proc", "--dev", "/dev"],
    ...[...bounded, "/dev/shm", "--remount-ro", "/dev"],
    ...[...bounded, "/tmp", "--dir", "/tmp/home"],
  ];
}

/**
 * The command as it is started inside, by a shell with a fixed script: it waits for our go, and joins the command's two
 * outputs into one, in the order they were written, unless they are wanted apart. The limit on processes is set inside
 * because there it counts this sandbox only, even when all sandboxes run as one user.
 */
function launch({ argv, limits, network, onErrorOutput }: SandboxCommand): string[] {
  const bridge = network.kind === "proxy" ? [SANDBOX_NODE, BRIDGE, PROXY_SOCKET] : [];
  const bounds = ["--core=0", `--fsize=${limits.fileSizeMb * MEBIBYTE}`, `--nproc=${limits.processes}`];
  const errors = onErrorOutput ? `2>&${ERRORS_DESCRIPTOR} ${ERRORS_DESCRIPTOR}>&-` : "2>&1";
  const script = `read -r go || exit; exec "$@" </dev/null ${errors}`;
  return ["sh", "-c", script, "sh", "prlimit", ...bounds, "--", ...bridge, ...argv];
}
