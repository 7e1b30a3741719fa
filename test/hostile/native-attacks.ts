import { networkInterfaces } from "node:os";
import { publishServer } from "../support/edge/node-server.ts";
import type { Attack } from "./attack.ts";
import { attackNamed, hostile } from "./server-attacks.ts";

/** Errors by which the kernel refuses a system call: EPERM, EACCES, ENOSYS. */
const REFUSED = [1, 13, 38];

/** System calls by which native code could leave its sandbox, with their numbers on x86-64 and arm64, and arguments that would work. */
const CALLS: Readonly<Record<string, readonly [x64: number, arm64: number, args: string]>> = {
  unshare: [272, 97, "0x10000000"],
  setns: [308, 268, "fileno($namespace), 0"],
  mount: [165, 40, `$none, $folder, $type, 0, 0`],
  chroot: [161, 51, "$folder"],
  ptrace: [101, 117, "16, 1, 0, 0"],
  process_vm_readv: [310, 270, "1, 0, 0, 0, 0, 0"],
  pidfd_getfd: [438, 438, "0, 0, 0"],
  open_by_handle_at: [304, 265, "0, $buffer, 0"],
  io_uring_setup: [425, 425, "1, $buffer"],
  bpf: [321, 280, "0, $buffer, 64"],
  perf_event_open: [298, 241, "$buffer, 0, -1, -1, 0"],
  userfaultfd: [323, 282, "0"],
  keyctl: [250, 219, "0, -3, 1"],
  memfd_create: [319, 279, "$none, 0"],
  init_module: [175, 105, "$buffer, 64, $none"],
};

const CALL_ALL = `my ($none, $folder, $type, $buffer) = ("none", "/tmp", "tmpfs", "\\0" x 256); open(my $namespace, "<", "/proc/1/ns/net");
  ${Object.entries(CALLS)
    .map(([name, [x64, arm64, args]]) => {
      const call = `syscall(${process.arch === "x64" ? x64 : arm64}, ${args})`;
      return `$! = 0; if (${call} >= 0 or not grep { $_ == $! + 0 } (${REFUSED.join(", ")})) { print "${name} ", $! + 0, " " }`;
    })
    .join("\n  ")}`;

/** Connects without Node.js, which the service changes. */
const connectTo = (addresses: readonly string[]): string => `use IO::Socket::INET;
  for (qw(${addresses.join(" ")})) { print "$_ " if IO::Socket::INET->new(PeerAddr => $_, Proto => "tcp", Timeout => 2); }`;

/** What a native module of a server can do: the same as any other program that it starts. */
const perl = (script: string): string =>
  hostile(`return execFileSync("perl", ["-e", ${JSON.stringify(script)}], { encoding: "utf8" }).trim() || "refused";`);

const FIND_SOCKETS = hostile(`
  const { stdout } = require("child_process").spawnSync("find", ["/", "-not", "-path", "/proc/*", "-type", "s"], { encoding: "utf8" });
  return stdout.trim().split("\\n").filter((each) => !/^\\/run\\/(?:egress\\/control|app\\/3000)\\.sock$/.test(each)).join(" ") || "refused";`);

export const NATIVE_ATTACKS: readonly Attack[] = [
  attackNamed("A Node server: system calls of native code", async (t) => {
    await publishServer(t, "hostile", perl(CALL_ALL));
    const { text } = await t.request("hostile", "/attack");
    return { isContained: text === "refused", text };
  }),
  attackNamed("A Node server: connections of native code to the host and to public addresses", async (t) => {
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const hosts = ["127.0.0.1", ...own.filter(({ family }) => family === "IPv4").map(({ address }) => address)];
    const ports = [t.platform.port, 22, 5432, 6379];
    const addresses = [...hosts.flatMap((host) => ports.map((port) => `${host}:${port}`)), "169.254.169.254:80"];
    await publishServer(t, "hostile", perl(connectTo([...addresses, "1.1.1.1:443", "8.8.8.8:53"])));
    const { text } = await t.request("hostile", "/attack");
    return { isContained: text === "refused", text };
  }),
  attackNamed("A Node server: sockets of PostgreSQL and of other apps", async (t) => {
    await publishServer(t, "hostile", FIND_SOCKETS);
    const { text } = await t.request("hostile", "/attack");
    return { isContained: text === "refused", text };
  }),
];
