import { existsSync } from "node:fs";
import type { LayeredFolder, Mount } from "../ports/sandbox.ts";
import { dieWithService } from "./die-with-service.ts";
import { mountLayers } from "./layered-folder.ts";
import { bindArguments, fileArguments, type SandboxFiles } from "./sandbox-files.ts";

const MEBIBYTE = 1024 * 1024;

/** The keys of the service's session keyring, which all sandboxes inherit. They cannot use the keys, only list them. */
const HIDDEN_PROC_FILES = ["/proc/keys", "/proc/key-users"];

/** Those that bubblewrap's `--dev` mounts. */
const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"].map((name) => `/dev/${name}`);
const DEVICE_LINKS = [
  ["/proc/self/fd", "/dev/fd"],
  ["/proc/self/fd/0", "/dev/stdin"],
  ["/proc/self/fd/1", "/dev/stdout"],
  ["/proc/self/fd/2", "/dev/stderr"],
] as const;

/** One sandbox: its files, its network and its command. */
export interface BubblewrapLayout extends SandboxFiles {
  /** The size of `/tmp`, and of `/dev/shm`. */
  temporaryMb: number;
  /** One of `mounts` has its folder `merged`. */
  layered?: LayeredFolder | undefined;
  /** An open file descriptor from which bubblewrap reads the system call filter. */
  filterDescriptor: number;
  /** Further options for the bubblewrap that isolates the command. */
  options: readonly string[];
  cwd: string;
  /** The command inside. */
  argv: readonly string[];
}

/**
 * The command line of one sandbox.
 *
 * @param uid - the user id of the command, on a host where we are root; `null` to run it as our own user
 */
export function bubblewrapCommandLine(layout: BubblewrapLayout, uid: number | null): string[] {
  const { mounts } = layout;
  if (uid === null) {
    if (layout.layered !== undefined) throw new Error("Only root can layer folders");
    const files = [...fileArguments(layout), ...scratchSpace(layout, mounts)];
    return [...dieWithService(), "bwrap", ...isolation(layout), ...files, ...command(layout)];
  }
  const mounted = mounts.map(({ to, writable }) => ({ from: to, to, writable }));
  const asUser = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--no-new-privs", "--"];
  const files = ["--bind", "/", "/", ...scratchSpace(layout, mounted)];
  return [
    ...dieWithService(),
    ...(layout.layered === undefined ? [] : mountLayers(layout.layered)),
    ...mountedFiles(layout, ["--dev", "/dev"]),
    ...asUser,
    "bwrap",
    ...isolation(layout),
    ...files,
    ...command(layout),
  ];
}

/**
 * The start of a command line that runs as root with the files of a sandbox as its root folder. The user of the sandbox
 * must not own the mount points, and may be unable to reach the mounted files (a data folder that only root may enter).
 * So root mounts the files, and the user of the sandbox isolates itself with them.
 */
function mountedFiles(files: SandboxFiles, devices: readonly string[]): string[] {
  return ["bwrap", "--bind", "/proc", "/proc", ...devices, ...fileArguments(files), "--"];
}

/**
 * The same with the devices of the sandboxes that enter these files, which then need not mount them: 1 ms of CPU time.
 * The devices have no state, so that sandboxes can have them in common. A terminal has one, so there is none.
 */
export function mountedFilesAndDevices(files: SandboxFiles): string[] {
  const devices = DEVICES.flatMap((device) => ["--dev-bind", device, device]);
  const links = DEVICE_LINKS.flatMap(([target, link]) => ["--symlink", target, link]);
  const folder = ["--tmpfs", "/dev", ...devices, ...links, "--dir", "/dev/shm", "--remount-ro", "/dev"];
  return mountedFiles(files, folder);
}

/**
 * The rest of a command line that has entered the files of `mountedFiles` as the user of the sandbox.
 *
 * @param ownMounts - mounts of this sandbox only, from folders below `/tmp` of those files, which it does not see itself
 */
export function isolatedCommand(layout: BubblewrapLayout, ownMounts: readonly Mount[]): string[] {
  const files = ["--dev-bind", "/", "/", ...ownMounts.flatMap(bindArguments)];
  return ["bwrap", ...isolation(layout), ...files, ...ownProc(), ...boundedMemory(layout), ...command(layout)];
}

function command({ cwd, argv }: BubblewrapLayout): string[] {
  return ["--chdir", cwd, "--", ...argv];
}

/** Without `--disable-userns` the command could become root of a user namespace and reach more of the kernel. */
function isolation({ network, filterDescriptor, options }: BubblewrapLayout): string[] {
  return [
    ...["--unshare-user", "--unshare-all", ...(network === "host" ? ["--share-net"] : []), "--disable-userns"],
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"],
    ...["--seccomp", String(filterDescriptor)],
    ...options,
  ];
}

/** Outside its mounts, the command can write only to bounded memory. That covers mounts below `/tmp`, so they follow. */
function scratchSpace(layout: BubblewrapLayout, mounts: readonly Mount[]): string[] {
  return [
    ...[...ownProc(), "--dev", "/dev", ...boundedMemory(layout), "--remount-ro", "/dev"],
    ...mounts.filter(({ to }) => to.startsWith("/tmp/")).flatMap(bindArguments),
  ];
}

function ownProc(): string[] {
  const hidden = HIDDEN_PROC_FILES.filter((file) => existsSync(file));
  return ["--proc", "/proc", ...hidden.flatMap((file) => ["--ro-bind", "/dev/null", file])];
}

function boundedMemory({ temporaryMb }: BubblewrapLayout): string[] {
  const bounded = ["--perms", "1777", "--size", String(temporaryMb * MEBIBYTE), "--tmpfs"];
  return [...bounded, "/dev/shm", ...bounded, "/tmp", "--dir", "/tmp/home"];
}
