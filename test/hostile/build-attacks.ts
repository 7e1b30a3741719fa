import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { SandboxLimits, SandboxOutcome } from "../../domain/ports/sandbox.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { runIn } from "../support/sandbox/sandbox-command.ts";
import { type Attack, type AttackEnvironment, type AttackResult, judgeHeld } from "./attack.ts";

const MEMORY_MB = 256;
const DISK_MB = 256;
const TEMPORARY_MB = 64;
const LIMITS: Partial<SandboxLimits> = {
  wallTimeMs: 8000,
  memoryMb: MEMORY_MB,
  diskMb: DISK_MB,
  processes: 128,
  fileSizeMb: 128,
};

/** The numbers of system calls that the attacks make. */
const [ADD_KEY, KEYCTL, SHMGET, SHMAT, SENDMSG, MEMFD_CREATE, UNSHARE, IO_URING_SETUP] =
  process.arch === "x64" ? [248, 250, 29, 30, 46, 319, 272, 425] : [217, 219, 194, 196, 211, 279, 97, 425];

/** Perl code that prints what the attack holds, in MiB, and waits when it has all that it can get. */
const HOLD = `$| = 1; my $held = 0;
  sub held { $held += shift; print "held $held\\n"; }
  sub wait_or_fail { print "stopped: $!\\n" if $held == 0; sleep 60 if $held > 0; exit; }`;

/** Perl code that sends an open file to a socket of the same process, and closes it. Then no process has it open. */
const IN_FLIGHT = `use Socket; use IO::Handle; my $byte = "x"; my @sockets;
  sub send_away { my $file = shift;
    socketpair(my $in, my $out, AF_UNIX, SOCK_STREAM, 0) or wait_or_fail; push @sockets, $in, $out;
    my $iov = pack("P Q", $byte, 1); my $control = pack("Q i i i x4", 20, 1, 1, fileno $file);
    my $message = pack("x16 P Q P Q i x4", $iov, 1, $control, 24, 0);
    syscall(${SENDMSG}, fileno $out, $message, 0) > 0 or wait_or_fail;
    close $file; }`;

/** Fills files without a name below a folder, each of 32 MiB, and sends them away. */
const filesIn = (folder: string): string => `${HOLD} ${IN_FLIGHT}
  for my $n (1 .. 64) {
    open(my $file, "+>", "${folder}/$n") or wait_or_fail; unlink "${folder}/$n";
    for (1 .. 32) { syswrite($file, "x" x 1048576) or wait_or_fail; held(1); }
    send_away($file);
  } wait_or_fail;`;

const MEMORY_ATTACKS: Readonly<Record<string, string>> = {
  "Memory in System V segments": `${HOLD} for (1 .. 64) {
    my $id = syscall(${SHMGET}, 0, 33554432, 0600); wait_or_fail if $id < 0;
    my $at = syscall(${SHMAT}, $id, 0, 0); wait_or_fail if $at == -1; held(32);
  } wait_or_fail;`,
  "Memory in memory files in flight": `${HOLD} ${IN_FLIGHT} my $name = "x"; for (1 .. 64) {
    my $fd = syscall(${MEMFD_CREATE}, $name, 0); wait_or_fail if $fd < 0;
    open(my $file, "+<&=", $fd) or wait_or_fail;
    for (1 .. 32) { syswrite($file, "x" x 1048576) or wait_or_fail; held(1); }
    send_away($file);
  } wait_or_fail;`,
  "Memory in files of /tmp and /dev/shm": `${HOLD} for my $folder ("/tmp", "/dev/shm") {
    for my $n (1 .. 8) { open(my $file, ">", "$folder/$n") or next; for (1 .. 64) { syswrite($file, "x" x 1048576) or last; held(1); } }
  } wait_or_fail;`,
  "Memory of many processes": `${HOLD} for (1 .. 16) {
    if (!fork) { my $data = "x" x 67108864; sleep 60; } select(undef, undef, undef, 0.05); held(64);
  } wait_or_fail;`,
  "Memory in full pipes": `${HOLD} use Fcntl; my @pipes; while (1) {
    pipe(my $in, my $out) or wait_or_fail; push @pipes, $in, $out;
    fcntl($out, 1031, 1048576); fcntl($out, F_SETFL, O_NONBLOCK); my $size = fcntl($out, 1032, 0);
    syswrite($out, "x" x $size) or wait_or_fail; held($size / 1048576) if $size >= 1048576;
  }`,
};

export const BUILD_ATTACKS: readonly Attack[] = [
  ...Object.entries(MEMORY_ATTACKS).map(([name, script]) => ({
    name,
    through: "build" as const,
    run: async ({ groups }: AttackEnvironment): Promise<AttackResult> => {
      const { heldMb, end } = await runPerl(groups, script);
      return judgeHeld(heldMb, MEMORY_MB, end);
    },
  })),
  {
    name: "Disk space in unlinked files in flight",
    through: "build",
    run: async ({ groups, folder }) => {
      const mounts = [{ from: path.join(folder, "work"), to: "/work", writable: true }];
      await mkdir(mounts[0]?.from ?? "");
      const { heldMb, end } = await runPerl(groups, filesIn("/work"), { mounts });
      return judgeHeld(heldMb, DISK_MB, end);
    },
  },
  {
    name: "A key that another sandbox reads",
    through: "build",
    run: async ({ groups }) => {
      const store = `my ($t, $n, $v) = ("user", "channel", "secret"); syscall(${ADD_KEY}, $t, $n, $v, 6, -3);`;
      const find = `my ($t, $n) = ("user", "channel"); print syscall(${KEYCTL}, 10, -3, $t, $n, 0) > 0 ? "found" : "refused";`;
      await runPerl(groups, store);
      const { output } = await runPerl(groups, find);
      return { isContained: output === "refused", text: output };
    },
  },
  {
    name: "A fork bomb",
    through: "build",
    run: async ({ groups }) => {
      const bomb = runPerl(groups, "fork while 1;", { limits: { ...LIMITS, wallTimeMs: 3000 } });
      const startedAt = performance.now();
      const { output } = await runPerl(groups, "print 'fine'");
      const tookMs = performance.now() - startedAt;
      const { end } = await bomb;
      return { isContained: output === "fine", text: `${end}; another build took ${tookMs.toFixed(0)} ms meanwhile` };
    },
  },
  {
    name: "Sockets of other families",
    through: "build",
    run: async ({ groups }) => {
      const script = `use Socket; for (0 .. 50) { socket(my $s, $_, SOCK_DGRAM, 0) and print "$_ "; }`;
      const { output } = await runPerl(groups, script);
      return { isContained: output.trim() === "1 2 10 16", text: `opened families ${output.trim()}` };
    },
  },
  {
    name: "Namespaces and rings of the kernel",
    through: "build",
    run: async ({ groups }) => {
      const calls = [`syscall(${UNSHARE}, 0x10000000)`, `syscall(${IO_URING_SETUP}, 8, $params)`];
      const script = `my $params = "\\0" x 120; ${calls.map((call) => `print ${call} >= 0 ? "open " : "refused ";`).join(" ")}`;
      const { output } = await runPerl(groups, script);
      return { isContained: output === "refused refused ", text: output.trim() };
    },
  },
];

interface PerlRun {
  /** The largest amount that the script reported. */
  heldMb: number;
  output: string;
  /** How it ended, in a few words. */
  end: string;
}

async function runPerl(
  groups: AttackEnvironment["groups"],
  script: string,
  options: Parameters<typeof runIn>[2] = {},
): Promise<PerlRun> {
  const sandbox = new BubblewrapSandbox({ groups, temporaryMb: TEMPORARY_MB });
  const run = await runIn(sandbox, ["perl", "-e", script], { limits: LIMITS, ...options });
  const output = run.output.toString();
  const held = [...output.matchAll(/^held (\d+)/gm)].map(([, megabytes]) => Number(megabytes));
  const refusal = /^stopped: (.*)$/m.exec(output)?.[1];
  return {
    heldMb: Math.max(0, ...held),
    output,
    end: refusal === undefined ? describe(run.outcome) : `refused (${refusal})`,
  };
}

function describe(outcome: SandboxOutcome): string {
  switch (outcome.reason) {
    case "exit":
      return `ended with exit code ${outcome.code}`;
    case "signal":
      return `killed by ${outcome.signal}`;
    case "time":
      return "not stopped before its time was over";
    case "aborted":
      return "aborted";
    case "memory":
    case "disk":
      return `stopped at the limit on ${outcome.reason}`;
  }
}
