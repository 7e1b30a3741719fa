import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Mount } from "../ports/sandbox.ts";
import { findTool } from "./system-tools.ts";

/** The files of a sandbox. A file of the host that is not listed here does not exist inside. */
export interface SandboxFiles {
  /**
   * The visible part of the host's `/usr`: all of it, the folders of tools and shared libraries, or the shared libraries
   * and the tools that start the sandbox. `tools` has no certificate authorities. It is the fastest, because it needs
   * the fewest mounts.
   */
  programs: "all" | "tools" | "libraries";
  network: "none" | "host";
  mounts: readonly Mount[];
  /** Empty folders for mounts that are added later. */
  mountPoints?: readonly string[];
}

/** The folder in which this service is installed. */
const PROJECT = resolve(import.meta.dirname, "../..");

/** Folders below `/usr` that may contain secrets: npm's configuration, and sources with their settings and data. */
const HIDDEN = ["/usr/etc", "/usr/local/etc", "/usr/src", "/usr/local/src", PROJECT];

/** The folder inside with the files of `inside/etc`. */
const FIXED_ETC = "/opt/etc";

/** The tools that are executed inside a sandbox to start the command. */
const TOOLS = ["bwrap", "setpriv", "prlimit"];

/** Without it, the dynamic linker searches the default folders, which takes longer. */
const LINKER_CACHE = "/etc/ld.so.cache";

/**
 * Certificate authorities, and other files that libraries read. Debian's `/etc/ssl/certs` links to the folders below
 * `/usr`.
 */
const LIBRARY_FILES = [
  ...[
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
  ],
  ...["/usr/share/ca-certificates", "/usr/local/share/ca-certificates"],
  ...["/etc/alternatives", LINKER_CACHE],
];

/**
 * The numbers of the processors, which /proc tells too. Programs with an allocator for each processor read them, for example
 * workerd before February 2025, which crashes without them. No other file of /sys exists inside.
 */
const PROCESSOR_FILES = ["/sys/devices/system/cpu/possible", "/sys/devices/system/cpu/online"];

/** The bubblewrap arguments that create the read-only root of a sandbox, with its mounts. */
export function fileArguments({ programs, network, mounts, mountPoints = [] }: SandboxFiles): string[] {
  const system = systemPaths(programs);
  const library = existing(programs === "tools" ? [LINKER_CACHE] : LIBRARY_FILES).filter(
    (path) => !isBelow(path, system),
  );
  // Only builds run programs of other versions than ours.
  const processors = existing(programs === "all" ? PROCESSOR_FILES : []);
  const etc = etcFiles(network);
  // Parents first, or a folder would hide the mounts below it.
  const ordered = [...etc.mounts, ...[...library, ...processors].map(readOnly), ...mounts].toSorted((a, b) =>
    a.to < b.to ? -1 : 1,
  );
  checkNesting(ordered);
  const folders = ["/proc", "/dev", "/tmp", "/etc/ssl", ...mountPoints].map((folder) => `${folder}/.`);
  return [
    ...ancestorFolders([...folders, ...system, ...ordered.map((mount) => mount.to)]),
    ...etc.links,
    ...system.map(readOnly).flatMap(bindArguments),
    ...foldersBesideUsr(programs),
    ...hidingArguments(system),
    ...ordered.flatMap(bindArguments),
    ...["--remount-ro", "/"],
  ];
}

function readOnly(path: string): Mount {
  return { from: path, to: path, writable: false };
}

export function bindArguments({ from, to, writable }: Mount): string[] {
  return [writable ? "--bind" : "--ro-bind", from, to];
}

function existing(paths: readonly (string | null)[]): string[] {
  return paths.filter((path) => path !== null && existsSync(path)) as string[];
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

function systemPaths(programs: SandboxFiles["programs"]): string[] {
  if (programs === "all") return ["/usr"];
  const libraries = existing(["/usr/lib", "/usr/lib32", "/usr/lib64"]);
  const tools = existing(TOOLS.map(findTool));
  if (programs === "libraries") return [...libraries, ...tools];
  const folders = ["/usr/bin", ...tools.map((tool) => dirname(tool)).filter((folder) => folder.startsWith("/usr/"))];
  return [...libraries, ...new Set(folders)];
}

/** bubblewrap, which may be root here, would follow a link that an earlier command left in place of a mount point. */
function checkNesting(mounts: readonly Mount[]): void {
  const writable = mounts.filter((mount) => mount.writable).map((mount) => mount.to);
  const nested = mounts.find((mount) => isBelow(mount.to, writable));
  if (nested) throw new Error(`${nested.to} cannot be mounted inside a writable mount`);
}

/** bubblewrap itself would create the folders above a mount with access for their owner only. */
function ancestorFolders(paths: readonly string[]): string[] {
  const above = paths.flatMap((path) => path.split("/").map((_, depth, parts) => parts.slice(0, depth).join("/")));
  const folders = [...new Set(above)].filter(Boolean).toSorted();
  return folders.flatMap((folder) => ["--dir", folder]);
}

/** The folders that older systems have beside `/usr`. On newer systems they are links to folders below `/usr`. */
function foldersBesideUsr(programs: SandboxFiles["programs"]): string[] {
  const libraries = ["/lib", "/lib32", "/lib64"];
  return (programs === "libraries" ? libraries : ["/bin", "/sbin", ...libraries]).flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return [];
    return stats.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
}

/** Covers folders of secrets below the visible system folders with empty ones. */
function hidingArguments(system: readonly string[]): string[] {
  const visible = existing(HIDDEN).filter((path) => isBelow(path, system));
  const outermost = visible.filter((path) => !isBelow(path, visible));
  return outermost.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]);
}

/**
 * Account files with one fixed account, and the configuration of name resolution for the network of the sandbox. The
 * fixed files are links into one mount: each mount costs more than a link, in both layers of a sandbox.
 */
function etcFiles(network: SandboxFiles["network"]): { mounts: Mount[]; links: string[] } {
  const fixed = { from: `${import.meta.dirname}/inside/etc`, to: FIXED_ETC, writable: false };
  const linked = network === "none" ? ["passwd", "group", "hosts", "nsswitch.conf"] : ["passwd", "group"];
  const own = network === "none" ? [] : existing(["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"]);
  return {
    mounts: [fixed, ...own.map(readOnly)],
    links: linked.flatMap((name) => ["--symlink", `${FIXED_ETC}/${name}`, `/etc/${name}`]),
  };
}
