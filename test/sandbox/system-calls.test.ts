import { readdir, readFile, readlink } from "node:fs/promises";
import { constants } from "node:os";
import { describe, expect, test } from "vitest";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { type Architecture, CODES } from "../../server/sandbox/system-calls/filter-program.ts";
import {
  CHECKED_CALLS,
  LAST_CHECKED_CALL,
  NAMESPACE_FLAGS,
  REFUSALS,
} from "../../server/sandbox/system-calls/refused-system-calls.ts";
import { systemCallFilter } from "../../server/sandbox/system-calls/system-call-filter.ts";
import { workerdPids } from "../support/edge/app-processes.ts";
import { openTestPlatform } from "../support/edge/test-platform.ts";
import { runIn } from "../support/sandbox/sandbox-command.ts";
import { hazard, verifies } from "../support/verifies.ts";

const sandbox = new BubblewrapSandbox();
const architecture = process.arch as Architecture;
const { errno } = constants;

/** Calls that a sandbox must not make, and their numbers on x64 and arm64. The list does not depend on the filter. */
const DANGEROUS_CALLS: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  // Keys, segments, semaphores and queues that all sandboxes would share.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  shmget: [29, 194],
  shmat: [30, 196],
  semget: [64, 190],
  msgget: [68, 186],
  mq_open: [240, 180],
  // Memory that counts for no process while it is in flight.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  // The kernel.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  init_module: [175, 105],
  finit_module: [313, 273],
  kexec_load: [246, 104],
  syslog: [103, 116],
  // Mounts, roots and namespaces.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsmount: [432, 432],
  unshare: [272, 97],
  setns: [308, 268],
  clone3: [435, 435],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
};

/** Makes system calls in a sandbox, each in a process of its own, and returns the error of each; 0 for success. */
async function errorsOf(calls: readonly (readonly number[])[]): Promise<number[]> {
  const script = `$| = 1;
    for (@ARGV) {
      my @call = map { $_ + 0 } split /,/;
      my $pid = fork // die;
      if (!$pid) { my $result = syscall($call[0], @call[1 .. 6]); print(($result == -1 ? $! + 0 : 0), "\\n"); kill 9, $$; }
      waitpid $pid, 0;
    }`;
  const argv = calls.map((call) => Array.from({ length: 7 }, (_, index) => call[index] ?? 0).join(","));
  const { output } = await runIn(sandbox, ["perl", "-e", script, ...argv]);
  return output.toString().trim().split("\n").map(Number);
}

/** Every refused call that this architecture has, with the number of its error. */
function refusedCalls(on: Architecture): { name: string; number: number; error: number }[] {
  return REFUSALS.flatMap(({ calls, error }) =>
    calls.flatMap((call) => {
      const number = call[on];
      return number === null ? [] : [{ name: call.name, number, error: errno[error] }];
    }),
  );
}

function numberOf(call: keyof typeof CHECKED_CALLS): number {
  return CHECKED_CALLS[call][architecture] ?? -1;
}

verifies([hazard(49), hazard(50)], "a command cannot make any of the refused system calls", async () => {
  const refused = refusedCalls(architecture);
  const errors = await errorsOf(refused.map(({ number }) => [number]));
  expect(refused.map(({ name }, index) => `${name}: ${errors[index]}`)).toEqual(
    refused.map(({ name, error }) => `${name}: ${error}`),
  );
});

verifies(hazard(49), "a command cannot store a key or list the keys of the service", async () => {
  const script = `my ($type, $name, $value) = ("user", "channel", "secret");
    print syscall(${architecture === "x64" ? 248 : 217}, $type, $name, $value, 6, -3) > 0 ? "stored" : "refused";
    for ("/proc/keys", "/proc/key-users") { print " $_" if -e && !-c; }`;
  expect((await runIn(sandbox, ["perl", "-e", script])).output.toString()).toBe("refused");
});

verifies(hazard(50), "a command can open sockets of the families unix, IPv4, IPv6 and routing only", async () => {
  const families = Array.from({ length: 50 }, (_, family) => family);
  const [DATAGRAM, FIRST_PROTOCOL] = [2, 0];
  const errors = await errorsOf(families.map((family) => [numberOf("socket"), family, DATAGRAM, FIRST_PROTOCOL]));
  expect(families.filter((family) => errors[family] === 0)).toEqual([1, 2, 10, 16]);
  expect(new Set(errors.filter((error) => error !== 0))).toEqual(new Set([errno.EAFNOSUPPORT]));
});

verifies(
  hazard(50),
  "a command cannot open netlink sockets of other protocols, or socket pairs of other families",
  async () => {
    const [NETLINK, VSOCK, RAW, GENERIC] = [16, 40, 3, 16];
    const errors = await errorsOf([
      [numberOf("socket"), NETLINK, RAW, GENERIC],
      [numberOf("socketpair"), VSOCK, RAW, 0],
    ]);
    expect(errors).toEqual([errno.EPROTONOSUPPORT, errno.EAFNOSUPPORT]);
  },
);

verifies(hazard(49), "clone cannot create a namespace of any kind", async () => {
  const flags = Array.from({ length: 32 }, (_, bit) => (1 << bit) >>> 0).filter(
    (flag) => (flag & NAMESPACE_FLAGS) !== 0,
  );
  const errors = await errorsOf(flags.map((flag) => [numberOf("clone"), flag | constants.signals.SIGCHLD]));
  expect(errors).toEqual(Array.from({ length: 7 }, () => errno.EPERM));
});

verifies(hazard(49), "an app runs with the filter too", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", `export default { fetch: () => new Response("hello") }`);
  const [pid = 0] = await workerdPids(t.root);
  const descriptors = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((name) => readlink(`/proc/${pid}/fd/${name}`)),
  );
  expect(await readFile(`/proc/${pid}/status`, "utf8")).toMatch(/^Seccomp:\t2$/m);
  expect(descriptors.filter((target) => target.includes("system-call-filter"))).toEqual([]);
});

test("system calls that are newer than the list do not exist in a sandbox", async () => {
  expect(await errorsOf([[LAST_CHECKED_CALL + 1], [0x4000_0000]])).toEqual([errno.ENOSYS, errno.ENOSYS]);
});

test("no descriptor of the filter or of the sandbox's status is open in a command", async () => {
  const { output } = await runIn(sandbox, ["sh", "-c", "exec ls /proc/self/fd"]);
  const descriptors = output.toString().trim().split("\n").map(Number);
  // The last one is that of the folder which is being listed. The test itself may have inherited higher ones.
  expect(descriptors.filter((descriptor) => descriptor < 10)).toEqual([0, 1, 2, 3]);
});

test("a filter for an architecture with unknown numbers is an error", () => {
  expect(() => systemCallFilter("riscv64")).toThrow("It supports x64 and arm64.");
});

describe.each(["x64", "arm64"] as const)("the filter for %s", (on) => {
  const auditArchitecture = { x64: 0xc000_003e, arm64: 0xc000_00b7 }[on];
  const filter = systemCallFilter(on);
  const result = (number: number, args: readonly number[] = []) =>
    runFilter(filter, { number, architecture: auditArchitecture, args });

  test("refuses every dangerous call", () => {
    const calls = Object.entries(DANGEROUS_CALLS).map(
      ([name, numbers]) => [name, numbers[on === "x64" ? 0 : 1]] as const,
    );
    expect(calls.filter(([, number]) => result(number) === "allow")).toEqual([]);
  });

  test("refuses every listed call with its error", () => {
    const refused = refusedCalls(on);
    expect(refused.map(({ name, number }) => [name, result(number)])).toEqual(
      refused.map(({ name, error }) => [name, { errno: error }]),
    );
  });

  test("allows every other call up to the last one that was checked", () => {
    const listed = new Set(refusedCalls(on).map(({ number }) => number));
    for (const call of Object.values(CHECKED_CALLS)) listed.add(call[on] ?? -1);
    const others = Array.from({ length: LAST_CHECKED_CALL + 1 }, (_, number) => number).filter((n) => !listed.has(n));
    expect(others.filter((number) => result(number) !== "allow")).toEqual([]);
    expect(result(LAST_CHECKED_CALL + 1)).toEqual({ errno: errno.ENOSYS });
  });

  test("checks the arguments of clone, socket and socketpair", () => {
    const [clone = -1, socket = -1, socketpair = -1] = ["clone", "socket", "socketpair"].map(
      (name) => CHECKED_CALLS[name as keyof typeof CHECKED_CALLS][on] ?? -1,
    );
    expect([result(clone, [0x11]), result(clone, [0x1000_0011])]).toEqual(["allow", { errno: errno.EPERM }]);
    for (const call of [socket, socketpair]) {
      expect([1, 2, 10, 16].map((family) => result(call, [family, 1, 0]))).toEqual(Array(4).fill("allow"));
      const others = [0, 17, 38, 40].map((family) => result(call, [family, 1, 0]));
      expect(others).toEqual(others.map(() => ({ errno: errno.EAFNOSUPPORT })));
      expect(result(call, [16, 3, 16])).toEqual({ errno: errno.EPROTONOSUPPORT });
    }
  });

  test("kills a process that uses the calls of another architecture", () => {
    const [I386, ARM] = [0x4000_0003, 0x4000_0028];
    const calls = [I386, ARM].map((other) => runFilter(filter, { number: 1, architecture: other, args: [] }));
    expect(calls).toEqual(["kill", "kill"]);
  });
});

/** What a system call looks like to a filter: `struct seccomp_data` of linux/seccomp.h. */
interface SystemCallData {
  number: number;
  architecture: number;
  args: readonly number[];
}

type FilterResult = "allow" | "kill" | { errno: number };

/** Runs an encoded filter on one system call as the kernel would, to test architectures that this machine does not have. */
function runFilter(filter: Buffer, call: SystemCallData): FilterResult {
  const data = encodeData(call);
  let accumulator = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const code = filter.readUInt16LE(at);
    const operand = filter.readUInt32LE(at + 4);
    if (code === CODES.return) return toResult(operand);
    if (code === CODES.loadWord) accumulator = data.readUInt32LE(operand);
    else at += 8 * filter.readUInt8(at + (isTrue(code, accumulator, operand) ? 2 : 3));
  }
  throw new Error("The filter ended without a result");
}

function isTrue(code: number, accumulator: number, operand: number): boolean {
  switch (code) {
    case CODES.jumpIfEqual:
      return accumulator === operand;
    case CODES.jumpIfAtLeast:
      return accumulator >= operand;
    case CODES.jumpIfAnyBit:
      return (accumulator & operand) !== 0;
    default:
      throw new Error(`Unknown instruction ${code}`);
  }
}

function encodeData({ number, architecture, args }: SystemCallData): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, argument] of args.entries()) data.writeUInt32LE(argument, 16 + 8 * index);
  return data;
}

function toResult(action: number): FilterResult {
  if (action === 0x7fff_0000) return "allow";
  if (action === 0x8000_0000) return "kill";
  if (action >>> 16 === 5) return { errno: action & 0xffff };
  throw new Error(`Unknown action ${action}`);
}
