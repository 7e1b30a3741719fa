import { existsSync } from "node:fs";
import type { Mount } from "../../domain/ports/sandbox.ts";
import { dieWithService } from "./die-with-service.ts";
import { bindArguments, fileArguments, type SandboxFiles } from "./sandbox-files.ts";

const MEBIBYTE = 1024 * 1024;

/** The keys of the service's session keyring, which all sandboxes inherit. They cannot use the keys, only list them. */
const HIDDEN_PROC_FILES = ["/proc/keys", "/proc/key-users"];

/** One sandbox: its files, its network and its command. */
export interface BubblewrapLayout extends SandboxFiles {
  /** The size of `/tmp`, and of `/dev/shm`. */
  temporaryMb: number;
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
    const files = [...fileArguments(layout), ...scratchSpace(layout, mounts)];
    return [...dieWithService(), "bwrap", ...isolation(layout), ...files, ...command(layout)];
  }
  const mounted = mounts.map(({ to, writable }) => ({ from: to, to, writable }));
  return [...dieWithService(), ...mountedFiles(layout), ...isolatedUser(layout, uid, scratchSpace(layout, mounted))];
}

/**
 * The start of a command line that runs as root with the files of a sandbox as its root folder. The user of the sandbox
 * must not own the mount points, and may be unable to reach the mounted files (a data folder that only root may enter).
 * So root mounts the files, and the user of the sandbox isolates itself with them.
 */
export function mountedFiles(files: SandboxFiles): string[] {
  return ["bwrap", "--bind", "/proc", "/proc", "--dev", "/dev", ...fileArguments(files), "--"];
}

/**
 * The rest of a command line that starts with `mountedFiles`.
 *
 * @param ownMounts - mounts of this sandbox only, from folders below `/tmp` of those files, which it does not see itself
 */
export function isolatedCommand(layout: BubblewrapLayout, uid: number, ownMounts: readonly Mount[]): string[] {
  return isolatedUser(layout, uid, [...ownMounts.flatMap(bindArguments), ...scratchSpace(layout, [])]);
}

function isolatedUser(layout: BubblewrapLayout, uid: number, ownFiles: string[]): string[] {
  const asUser = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--no-new-privs", "--"];
  return [...asUser, "bwrap", ...isolation(layout), "--bind", "/", "/", ...ownFiles, ...command(layout)];
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
function scratchSpace({ temporaryMb }: BubblewrapLayout, mounts: readonly Mount[]): string[] {
  const bounded = ["--perms", "1777", "--size", String(temporaryMb * MEBIBYTE), "--tmpfs"];
  return [
    ...["--proc", "/proc", "--dev", "/dev"],
    ...HIDDEN_PROC_FILES.filter((file) => existsSync(file)).flatMap((file) => ["--ro-bind", "/dev/null", file]),
    ...[...bounded, "/dev/shm", "--remount-ro", "/dev"],
    ...[...bounded, "/tmp", "--dir", "/tmp/home"],
    ...mounts.filter(({ to }) => to.startsWith("/tmp/")).flatMap(bindArguments),
  ];
}
