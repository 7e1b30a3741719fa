import type { Architecture } from "./filter-program.ts";

/** The error of a refused system call. With `ENOSYS` a program concludes that the kernel does not have the call. */
export type RefusalError = "EPERM" | "ENOSYS";

/** A system call with its number on each architecture; `null` where the call does not exist. */
export type SystemCall = Readonly<{ name: string } & Record<Architecture, number | null>>;

export interface Refusal {
  reason: string;
  error: RefusalError;
  calls: readonly SystemCall[];
}

/**
 * The system calls that no build, app or program needs. Each is attack surface of the kernel, a channel between
 * sandboxes, or memory that the service cannot measure.
 */
export const REFUSALS: readonly Refusal[] = [
  {
    reason: "All sandboxes inherit the session keyring of the service, so a key would be a channel between them.",
    error: "EPERM",
    calls: [call("add_key", 248, 217), call("request_key", 249, 218), call("keyctl", 250, 219)],
  },
  {
    reason: "System V objects exist without a process, so their memory counts for none.",
    error: "EPERM",
    calls: [
      call("shmget", 29, 194),
      call("shmat", 30, 196),
      call("shmctl", 31, 195),
      call("shmdt", 67, 197),
      call("semget", 64, 190),
      call("semop", 65, 193),
      call("semctl", 66, 191),
      call("semtimedop", 220, 192),
      call("msgget", 68, 186),
      call("msgsnd", 69, 189),
      call("msgrcv", 70, 188),
      call("msgctl", 71, 187),
    ],
  },
  {
    reason: "POSIX message queues exist without a process too.",
    error: "EPERM",
    calls: [call("mq_open", 240, 180), call("mq_unlink", 241, 181)],
  },
  {
    reason:
      "A memory file that is in flight on a socket counts for no process. Libraries use a temporary file instead.",
    error: "ENOSYS",
    calls: [call("memfd_create", 319, 279), call("memfd_secret", 447, 447)],
  },
  {
    reason: "Reading, controlling and comparing other processes serves debuggers, and has had many vulnerabilities.",
    error: "EPERM",
    calls: [
      call("ptrace", 101, 117),
      call("process_vm_readv", 310, 270),
      call("process_vm_writev", 311, 271),
      call("kcmp", 312, 272),
      call("pidfd_getfd", 438, 438),
      call("migrate_pages", 256, 238),
      call("move_pages", 279, 239),
    ],
  },
  {
    reason: "Code in the kernel, and measurements of the kernel.",
    error: "EPERM",
    calls: [
      call("bpf", 321, 280),
      call("perf_event_open", 298, 241),
      call("lookup_dcookie", 212, 18),
      call("syslog", 103, 116),
      call("init_module", 175, 105),
      call("finit_module", 313, 273),
      call("delete_module", 176, 106),
      call("create_module", 174, null),
      call("query_module", 178, null),
      call("get_kernel_syms", 177, null),
      call("kexec_load", 246, 104),
      call("kexec_file_load", 320, 294),
    ],
  },
  {
    reason: "User space that handles page faults can stop the kernel at any place, which exploits use to win races.",
    error: "EPERM",
    calls: [call("userfaultfd", 323, 282)],
  },
  {
    reason: "A ring performs system calls that no filter sees. Programs fall back to the calls themselves.",
    error: "ENOSYS",
    calls: [call("io_uring_setup", 425, 425), call("io_uring_enter", 426, 426), call("io_uring_register", 427, 427)],
  },
  {
    reason: "A sandbox has the mounts and the root that it starts with.",
    error: "EPERM",
    calls: [
      call("mount", 165, 40),
      call("umount2", 166, 39),
      call("pivot_root", 155, 41),
      call("chroot", 161, 51),
      call("open_tree", 428, 428),
      call("open_tree_attr", 467, 467),
      call("move_mount", 429, 429),
      call("mount_setattr", 442, 442),
      call("fsopen", 430, 430),
      call("fsconfig", 431, 431),
      call("fsmount", 432, 432),
      call("fspick", 433, 433),
    ],
  },
  {
    reason: "A sandbox has the namespaces that it starts with. The filter also checks the flags of clone.",
    error: "EPERM",
    calls: [call("unshare", 272, 97), call("setns", 308, 268)],
  },
  {
    reason: "The flags of clone3 are in memory, where a filter cannot read them. The C library falls back to clone.",
    error: "ENOSYS",
    calls: [call("clone3", 435, 435)],
  },
  {
    reason: "File handles lead to files outside the mounts, and fanotify watches whole file systems.",
    error: "EPERM",
    calls: [
      call("name_to_handle_at", 303, 264),
      call("open_by_handle_at", 304, 265),
      call("fanotify_init", 300, 262),
      call("fanotify_mark", 301, 263),
    ],
  },
  {
    reason: "Administration of the host.",
    error: "EPERM",
    calls: [
      call("reboot", 169, 142),
      call("swapon", 167, 224),
      call("swapoff", 168, 225),
      call("acct", 163, 89),
      call("quotactl", 179, 60),
      call("quotactl_fd", 443, 443),
      call("settimeofday", 164, 170),
      call("clock_settime", 227, 112),
      call("clock_adjtime", 305, 266),
      call("adjtimex", 159, 171),
      call("sethostname", 170, 161),
      call("setdomainname", 171, 162),
      call("vhangup", 153, 58),
      call("nfsservctl", 180, 42),
    ],
  },
  {
    reason: "Obsolete calls, and access to segments and ports of the processor.",
    error: "EPERM",
    calls: [
      call("modify_ldt", 154, null),
      call("iopl", 172, null),
      call("ioperm", 173, null),
      call("uselib", 134, null),
      call("_sysctl", 156, null),
    ],
  },
];

/**
 * The last system call of Linux 6.18 (`file_setattr`), up to which the list above has been checked. The filter refuses
 * all later calls with ENOSYS, as older kernels do. Architectures have had the same numbers since 424.
 */
export const LAST_CHECKED_CALL = 469;

/** The flags with which `clone` creates namespaces: mount, cgroup, UTS, IPC, user, pid, network. */
export const NAMESPACE_FLAGS =
  0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;

/**
 * The socket families that builds, apps and programs use. The others reach more of the kernel (AF_ALG, AF_PACKET), or
 * the host of a virtual machine (AF_VSOCK), to which no network namespace applies.
 */
export const SOCKET_FAMILIES = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10 } as const;

/** Lists network interfaces with NETLINK_ROUTE. Its other protocols configure the kernel. */
export const AF_NETLINK = 16;
export const NETLINK_ROUTE = 0;

/** System calls whose arguments the filter checks. */
export const CHECKED_CALLS = {
  clone: call("clone", 56, 220),
  socket: call("socket", 41, 198),
  socketpair: call("socketpair", 53, 199),
} as const;

function call(name: string, x64: number | null, arm64: number | null): SystemCall {
  return { name, x64, arm64 };
}
