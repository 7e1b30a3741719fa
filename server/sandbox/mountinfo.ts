/** One line of `/proc/self/mountinfo`. */
export interface MountPoint {
  /** The folder of the file system that is mounted. */
  root: string;
  target: string;
  type: string;
  /** The options of the file system. */
  options: string[];
}

/**
 * Parses `/proc/self/mountinfo` (proc_pid_mountinfo(5)), whose lines are like
 * `36 35 98:0 /root /target rw shared:1 - cgroup source rw,memory`. The mounts are in the order of their creation.
 */
export function parseMountinfo(text: string): MountPoint[] {
  return text.split("\n").flatMap((line) => {
    const [mount = "", fileSystem] = line.split(" - ");
    if (fileSystem === undefined) return [];
    const [, , , root = "", target = ""] = mount.split(" ").map(unescape);
    const [type = "", , options = ""] = fileSystem.split(" ");
    return [{ root, target, type, options: options.split(",") }];
  });
}

/** The kernel writes space, tab, line break and backslash as octal numbers. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));
}
