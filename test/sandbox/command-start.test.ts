import { expect, test } from "vitest";
import { SANDBOX_FILES } from "../../server/drivers/code-runtime/deno-command.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { runIn, runScript } from "../support/sandbox/sandbox-command.ts";
import { hazard, verifies } from "../support/verifies.ts";

const MEBIBYTE = 1024 * 1024;
const sandbox = new BubblewrapSandbox();

test("a command has the limits of its request, and cannot raise them", async () => {
  const script = "cat /proc/self/limits; ulimit -c unlimited 2>/dev/null && echo raised; true";
  const limits = { fileSizeMb: 3, processes: 50, dataMb: 700 };
  const output = (await runScript(sandbox, script, { limits })).output.toString();
  const limitOf = (name: string) => new RegExp(`^Max ${name} +(\\S+) +(\\S+)`, "m").exec(output)?.slice(1);
  expect(limitOf("core file size")).toEqual(["0", "0"]);
  expect(limitOf("file size")).toEqual([String(3 * MEBIBYTE), String(3 * MEBIBYTE)]);
  expect(limitOf("processes")).toEqual(["50", "50"]);
  expect(limitOf("data size")).toEqual([String(700 * MEBIBYTE), String(700 * MEBIBYTE)]);
  expect(output).not.toContain("raised");
});

test("a command without a limit on private memory has the one of the service", async () => {
  const { output } = await runScript(sandbox, "grep '^Max data size' /proc/self/limits");
  expect(output.toString()).toMatch(/^Max data size +unlimited/);
});

test("the kernel ends a sandbox first when the host runs out of memory", async () => {
  expect((await runIn(sandbox, ["cat", "/proc/self/oom_score_adj"])).output.toString()).toBe("1000\n");
});

verifies(hazard(49), "the sandbox of a program shows only tools, libraries and fixed account files", async () => {
  const programs = new BubblewrapSandbox({ ...SANDBOX_FILES, kind: "programs" });
  const script = "ls /usr /opt /etc; ls /opt/node /usr/local /etc/ssl/certs /usr/share 2>/dev/null";
  const lines = (await runScript(programs, script)).output.toString().trim().split("\n");
  const expected = [
    ...["/usr:", "bin", "sbin", "lib", "lib32", "lib64"],
    ...["/opt:", "etc"],
    ...["/etc:", "group", "hosts", "ld.so.cache", "nsswitch.conf", "passwd", "ssl"],
  ];
  expect(lines.filter((line) => line !== "" && !expected.includes(line))).toEqual([]);
  expect(lines).toContain("passwd");
});
