import { afterAll, describe, expect, test } from "vitest";
import { SANDBOX_FILES } from "../../server/drivers/code-runtime/deno-command.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { openControlGroups } from "../../server/sandbox/cgroups/open-control-groups.ts";
import { uniqueSleepSeconds } from "../contract/sandbox.ts";
import { processesRunning, runIn, runScript } from "../support/sandbox/sandbox-command.ts";
import { hazard, verifies } from "../support/verifies.ts";

const MEBIBYTE = 1024 * 1024;
const sandbox = new BubblewrapSandbox();

/** A function that finds the soft and the hard limit of a name in the content of `/proc/self/limits`. */
function readLimits(content: string) {
  return (name: string) => new RegExp(`^Max ${name} +(\\S+) +(\\S+)`, "m").exec(content)?.slice(1);
}

test("a command has the limits of its request, and cannot raise them", async () => {
  const script = "cat /proc/self/limits; ulimit -c unlimited 2>/dev/null && echo raised; true";
  const limits = { fileSizeMb: 3, processes: 50, dataMb: 700 };
  const output = (await runScript(sandbox, script, { limits })).output.toString();
  const limitOf = readLimits(output);
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

const groups = await openControlGroups();
const isDirect = process.getuid?.() === 0 && groups.controllers.includes("pids");
if (!isDirect)
  process.stderr.write("SKIPPED: commands start with a shell inside, because there are no control groups\n");

describe.skipIf(!isDirect)("a command with prepared files, a control group and separate standard error", () => {
  const prepared = new BubblewrapSandbox({ groups, kind: "programs", prepareFiles: true });
  afterAll(async () => {
    await prepared[Symbol.asyncDispose]();
    await groups[Symbol.asyncDispose]();
  });

  async function run(argv: readonly [string, ...string[]], options: Parameters<typeof runIn>[2] = {}) {
    const errors: Uint8Array[] = [];
    const { outcome, output } = await runIn(prepared, argv, {
      onErrorOutput: (chunk) => errors.push(chunk),
      ...options,
    });
    return { outcome, output: output.toString(), errors: Buffer.concat(errors).toString() };
  }
  const script = (text: string, options: Parameters<typeof runIn>[2] = {}) => run(["sh", "-c", text], options);

  test("has its two outputs apart, an empty input, and no descriptor of the sandbox", async () => {
    const { outcome, output, errors } = await script(
      "cat; echo out; echo err >&2; for n in 3 4 5 6 7; do [ ! -e /proc/$$/fd/$n ] || echo $n; done; exit 7",
    );
    expect(outcome).toEqual({ reason: "exit", code: 7 });
    expect([output, errors]).toEqual(["out\n", "err\n"]);
  });

  test("is started without a shell of the sandbox, as the user and with the limits of the request", async () => {
    const limits = { fileSizeMb: 3, processes: 50, dataMb: 700 };
    const { output } = await run(["cat", "/proc/1/cmdline", "/proc/self/limits", "/proc/self/oom_score_adj"], {
      limits,
    });
    const limitOf = readLimits(output.slice(output.indexOf("Limit ")));
    expect(output).not.toContain("ulimit");
    expect(limitOf("core file size")).toEqual(["0", "0"]);
    expect(limitOf("file size")).toEqual([String(3 * MEBIBYTE), String(3 * MEBIBYTE)]);
    expect(limitOf("data size")).toEqual([String(700 * MEBIBYTE), String(700 * MEBIBYTE)]);
    expect(output).toMatch(/\n1000\n$/);
    expect((await script("id -u; grep -E 'Cap(Eff|Bnd)|NoNewPrivs|Seccomp:|Groups' /proc/self/status")).output).toMatch(
      /^1000\nGroups:\s*\nCapEff:\s0+\nCapBnd:\s0+\nNoNewPrivs:\s1\nSeccomp:\s2\n$/,
    );
  });

  test("cannot have more processes than the request allows", async () => {
    const limits = { processes: 20 };
    const { output } = await script("for n in $(seq 60); do sleep 5 & echo $n; done", { limits });
    const started = output.trim().split("\n").length;
    expect([started > 5, started < 40]).toEqual([true, true]);
  });

  test("has the outcome of its signal, and of a program that does not exist", async () => {
    expect((await script("kill -SEGV $$")).outcome).toEqual({ reason: "signal", signal: "SIGSEGV" });
    expect((await run(["no-such-program"])).outcome).toEqual({ reason: "exit", code: 127 });
    await expect(run(["true"], { cwd: "/no/such/folder" })).rejects.toThrow(/could not be created: bwrap: /);
  });

  verifies(hazard(49), "has devices, but no terminal and no writable place besides its temporary files", async () => {
    const { output, errors } = await script(
      "ls /dev; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; echo x >/dev/null && echo /dev/std*; " +
        "touch /dev/x; for place in /dev/shm /tmp; do touch $place/x && ls $place; done",
    );
    const devices = ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"];
    const links = "/dev/stderr /dev/stdin /dev/stdout";
    expect(output.trim().split("\n")).toEqual([...devices, "3", "3", links, "x", "home", "x"]);
    expect(errors).toContain("Read-only file system");
  });

  test("and all its processes end when it is aborted", async () => {
    const seconds = uniqueSleepSeconds();
    const abort = new AbortController();
    const running = script(`setsid sleep ${seconds} & sleep ${seconds}`, { signal: abort.signal });
    await expect.poll(async () => (await processesRunning(["sleep", seconds])).length).toBe(2);
    abort.abort();
    expect((await running).outcome).toEqual({ reason: "aborted" });
    expect(await processesRunning(["sleep", seconds])).toEqual([]);
  });
});
