import { expect } from "vitest";
import { UnconfinedSandbox } from "../../server/sandbox/unconfined-sandbox.ts";
import { runIn } from "../support/sandbox/sandbox-command.ts";
import { hazard, verifies } from "../support/verifies.ts";

const MEMFD_CREATE = process.arch === "x64" ? 319 : 279;

verifies(hazard(50), "without control groups and a system call filter, open memory files count as memory", async () => {
  const script = `my $name = "held"; my $number = syscall(${MEMFD_CREATE}, $name, 0);
    open(my $file, "+<&=", $number) or die;
    for (1 .. 200) { syswrite($file, "x" x 1048576) or die; } sleep 60;`;
  const { outcome } = await runIn(new UnconfinedSandbox(), ["perl", "-e", script], { limits: { memoryMb: 64 } });
  expect(outcome).toEqual({ reason: "memory" });
});
