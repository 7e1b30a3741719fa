import path from "node:path";
import type { SandboxLimits, SandboxOutcome } from "../../server/ports/sandbox.ts";
import { FilesystemTemporaryWorkspaces } from "../../server/drivers/temporary-workspaces/filesystem.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { volumeProblem } from "../../server/sandbox/memory-volume.ts";
import { SEND_AWAY } from "../support/sandbox/in-flight-files.ts";
import { runIn } from "../support/sandbox/sandbox-command.ts";
import { type Attack, type AttackEnvironment, type AttackResult, judgeHeld } from "./attack.ts";

const MEMORY_MB = 256;
const DISK_MB = 256;
const TEMPORARY_MB = 64;
const VOLUME = { users: "builds", count: 1, sizeMb: DISK_MB, processMb: MEMORY_MB } as const;
const LIMITS: Partial<SandboxLimits> = {
  wallTimeMs: 8000,
  memoryMb: MEMORY_MB,
  diskMb: DISK_MB,
  processes: 128,
  fileSizeMb: 128,
};

/** The numbers of system calls that the attacks make. */
const [ADD_KEY, KEYCTL, SHMGET, SHMAT, MEMFD_CREATE, UNSHARE, IO_URING_SETUP] =
  process.arch === "x64" ? [248, 250, 29, 30, 319, 272, 425] : [217, 219, 194, 196, 279, 97, 425];

/** Perl code that prints what the attack holds, in MiB, and waits when it has all that it can get. */
const HOLD = `$| = 1; my $held = 0;
  sub held { $held += shift; print "held $held\\n"; }
  sub wait_or_fail { print "stopped: $!\\n" if $held == 0; sleep 60 if $held > 0; exit; }`;

/** Fills files without a name below a folder, each of 32 MiB, and sends them away. */
const filesIn = (folder: string): string => `${HOLD} ${SEND_AWAY}
  for my $n (1 .. 64) {
    open(my $file, "+>", "${folder}/$n") or wait_or_fail; unlink "${folder}/$n";
    for (1 .. 32) { syswrite($file, "x" x 1048576) or wait_or_fail; held(1); }
    send_away($file) or wait_or_fail;
  } wait_or_fail;`;

const MEMORY_ATTACKS: Readonly<Record<string, string>> = {
  "Memory in System V segments": `${HOLD} for (1 .. 64) {
    my $id = syscall(${SHMGET}, 0, 33554432, 0600); wait_or_fail if $id < 0;
    my $at = syscall(${SHMAT}, $id, 0, 0); wait_or_fail if $at == -1; held(32);
  } wait_or_fail;`,
  "Memory in memory files in flight": `${HOLD} ${SEND_AWAY} my $name = "x"; for (1 .. 64) {
    my $fd = syscall(${MEMFD_CREATE}, $name, 0); wait_or_fail if $fd < 0;
    open(my $file, "+<&=", $fd) or wait_or_fail;
    for (1 .. 32) { syswrite($file, "x" x 1048576) or wait_or_fail; held(1); }
    send_away($file) or wait_or_fail;
  } wait_or_fail;`,
  "Memory in files of /tmp and /dev/shm": `${HOLD} for my $folder ("/tmp", "/dev/shm") {
    for my $n (1 .. 8) { open(my $file, ">", "$folder/$n") or next; for (1 .. 64) { syswrite($file, "x" x 1048576) or last; held(1); } }
  } wait_or_fail;`,
  // Adds up what the processes have, because one that was killed has nothing any more. They grow slowly, so that the sum hardly
  // changes while it is read.
  "Memory of many processes": `${HOLD} for (1 .. 16) {
      if (!fork) { my @data; for (1 .. 64) { push @data, "x" x 1048576; select(undef, undef, undef, 0.1); } sleep 60; }
    }
    while (1) {
      my $kb = 0;
      for (glob "/proc/[0-9]*/smaps_rollup") { open(my $file, "<", $_) or next; /^Pss_Anon: +(\\d+)/ and $kb += $1 for <$file>; }
      print "held ", int($kb / 1024), "\\n"; select(undef, undef, undef, 0.01);
    }`,
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
      // As the service opens workspaces, with control groups only: so the second column shows a host without any limits.
      const isLimited = groups.version !== null && (await volumeProblem(folder, VOLUME)) === null;
      const workspaces = new FilesystemTemporaryWorkspaces(
        path.join(folder, "builds"),
        isLimited ? VOLUME.sizeMb : null,
      );
      await using workspace = await openWorkspace(workspaces);
      const mounts = [{ from: workspace.sourceDirectory, to: "/work", writable: true }];
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

async function openWorkspace(
  workspaces: FilesystemTemporaryWorkspaces,
): Promise<{ sourceDirectory: string } & AsyncDisposable> {
  const { sourceDirectory, remove } = await workspaces.open("build", 1);
  return { sourceDirectory, [Symbol.asyncDispose]: remove };
}

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
