import { once } from "node:events";
import { lstat, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { killDuringSleep } from "../support/sandbox/killed-service.ts";
import { processesRunning, processesWith, runIn, runScript } from "../support/sandbox/sandbox-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { uniqueSleepSeconds, writableAt } from "../contract/sandbox.ts";

const sandbox = new BubblewrapSandbox();

async function outputOf(script: string, choices = {}): Promise<string> {
  return (await runScript(sandbox, script, choices)).output.toString();
}

verifies(hazard(49), "a command sees only the system's programs and its mounts", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "secret"), "host\n");
  const places = [
    folder.path,
    import.meta.dirname,
    "/root",
    "/home",
    "/var",
    "/etc/shadow",
    "/etc/resolv.conf",
    "/sys/fs",
    "/sys/kernel",
  ];
  const script = `for place in "$@"; do [ -e "$place" ] && echo "$place"; done; ls /`;
  const { output } = await runIn(sandbox, ["sh", "-c", script, "sh", ...places]);
  const expected = ["bin", "dev", "etc", "lib", "lib32", "lib64", "opt", "proc", "sbin", "sys", "tmp", "usr"];
  expect(
    output
      .toString()
      .trim()
      .split("\n")
      .filter((name) => !expected.includes(name)),
  ).toEqual([]);
});

verifies(hazard(49), "a build sees only the numbers of the processors below /sys, and cannot change them", async () => {
  const files = ["/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible"];
  expect(await outputOf("find /sys -type f | sort")).toBe(`${files.join("\n")}\n`);
  const possible = await readFile("/sys/devices/system/cpu/possible", "utf8");
  expect(await outputOf("cat /sys/devices/system/cpu/possible; touch /sys/x /sys/devices/x 2>&1 | wc -l")).toBe(
    `${possible}2\n`,
  );
  expect(await outputOf("[ -w /sys/devices/system/cpu/online ] && echo writable; true")).toBe("");
  const program = new BubblewrapSandbox({ programs: "tools" });
  expect((await runScript(program, "ls -d /sys 2>/dev/null; true")).output.toString()).toBe("");
});

verifies(hazard(49), "a command cannot see the configuration and source folders below /usr", async () => {
  const script =
    "find /usr/etc /usr/local/etc /usr/src /usr/local/src -mindepth 1; touch /usr/local/etc/created && echo created";
  expect(await outputOf(`(${script}) 2>/dev/null; true`)).toBe("");
});

verifies(hazard(49), "a command cannot see or signal a process of the host, or read its environment", async () => {
  const script = "cat /proc/[0-9]*/environ | tr '\\0' '\\n'; kill -KILL -1; ls /proc | grep -c '^[0-9]'";
  const { output } = await runScript(sandbox, script, { env: { PATH: "/usr/bin:/bin", OWN: "1" } });
  expect(output.toString()).not.toMatch(/VITEST|HOME=|NODE/);
  const seen = await outputOf("ls /proc | grep -c '^[0-9]'");
  expect(seen).toMatch(/^[1-7]\n$/);
});

verifies(
  [hazard(49), hazard(50)],
  "a command without network cannot reach the host, a metadata service or the internet",
  async () => {
    const server = createServer((_request, response) => response.end("reached")).listen(0, "0.0.0.0");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const urls = [
      `http://127.0.0.1:${port}`,
      `http://localhost:${port}`,
      "http://169.254.169.254",
      "http://1.1.1.1",
      "http://example.com",
    ];
    const { output } = await runIn(sandbox, [
      "curl",
      "--silent",
      "--max-time",
      "3",
      "--write-out",
      "%{http_code} ",
      ...urls,
    ]);
    server.close();
    expect(output.toString()).toBe("000 ".repeat(urls.length));
  },
);

verifies(hazard(50), "a command with a proxy has no other network", async () => {
  await using folder = await temporaryFolder();
  const socketPath = join(folder.path, "proxy");
  const proxy = createServer((_request, response) => response.end("proxy")).listen(socketPath);
  const host = createServer((_request, response) => response.end("host")).listen(0, "127.0.0.1");
  await Promise.all([once(proxy, "listening"), once(host, "listening")]);
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const argv = ["curl", "--silent", "--noproxy", "*", "--max-time", "3", "--write-out", "%{http_code}", url] as const;
  const { output } = await runIn(sandbox, argv, { network: { kind: "proxy", socketPath } });
  proxy.close();
  host.close();
  expect(output.toString()).toBe("000");
});

verifies(hazard(50), "a command can write only to its writable mounts and to bounded scratch space", async () => {
  await using folder = await temporaryFolder();
  const mounts = [{ from: folder.path, to: "/mounted", writable: false }];
  const places = [
    "/x",
    "/usr/x",
    "/usr/bin/x",
    "/etc/x",
    "/dev/x",
    "/run/x",
    "/opt/x",
    "/opt/node/bin/node",
    "/mounted/x",
    "/proc/sys/kernel/hostname",
  ];
  const script = 'for place in "$@"; do echo x 2>/dev/null >"$place" && echo "$place"; done; echo tried';
  const { output } = await runIn(sandbox, ["sh", "-c", script, "sh", ...places], { mounts });
  expect(output.toString()).toBe("tried\n");
});

verifies(hazard(50), "scratch space has the configured size", async () => {
  const small = new BubblewrapSandbox({ temporaryMb: 4 });
  const script =
    "for place in /tmp /dev/shm; do head -c 9000000 /dev/zero 2>/dev/null > $place/x; stat -c %s $place/x; done";
  const { output } = await runScript(small, script);
  expect(output.toString()).toBe("4194304\n4194304\n");
});

verifies(hazard(50), "without control groups, builds and programs have a lower priority than the service", async () => {
  for (const kind of ["builds", "programs"] as const)
    expect((await runScript(new BubblewrapSandbox({ kind }), "nice")).output.toString()).toBe("10\n");
});

verifies(hazard(50), "a fork bomb stops at its limit and does not affect other commands", async () => {
  const end = new AbortController();
  let output = "";
  const bomb = runScript(sandbox, "b() { b | b & }; b & exec sleep 1000", {
    limits: { processes: 60 },
    onOutput: (chunk) => (output += Buffer.from(chunk).toString()),
    signal: end.signal,
  });
  await waitFor(() => expect(output).toContain("Cannot fork"));
  const others = await Promise.all(
    [1, 2, 3].map(() => outputOf("for n in $(seq 50); do sleep 0.2 & done; wait; echo fine")),
  );
  expect(others).toEqual(["fine\n", "fine\n", "fine\n"]);
  end.abort();
  expect((await bomb).outcome).toEqual({ reason: "aborted" });
});

verifies(
  [hazard(15), hazard(49)],
  "a mount inside a writable mount is an error, because an earlier command could have left a link there",
  async () => {
    await using folder = await temporaryFolder();
    const { mounts } = writableAt(folder.path);
    const inside = { from: "/usr", to: "/work/tools", writable: false };
    await expect(runIn(sandbox, ["true"], { mounts: [...mounts, inside] })).rejects.toThrow("inside a writable mount");
  },
);

verifies(hazard(49), "a command has no capabilities, is not root, and cannot create a user namespace", async () => {
  const output = await outputOf(
    "id -u; grep -E 'Cap|NoNewPrivs' /proc/self/status; unshare --user true 2>/dev/null || echo denied",
  );
  const none = ["Inh", "Prm", "Eff", "Bnd", "Amb"].map((set) => `Cap${set}:\t0000000000000000`);
  expect(output.trim().split("\n")).toEqual(["1000", ...none, "NoNewPrivs:\t1", "denied"]);
});

test("the environment of a command does not appear in a process list", async () => {
  const seconds = uniqueSleepSeconds();
  const abort = new AbortController();
  const env = { PATH: "/usr/bin:/bin", SECRET: `secret-of-${seconds}` };
  const running = runIn(sandbox, ["sleep", seconds], { env, signal: abort.signal });
  await expect.poll(async () => (await processesRunning(["sleep", seconds])).length).toBeGreaterThan(0);
  expect(await processesWith("secret-of-")).toEqual([]);
  abort.abort();
  await running;
});

verifies(
  [hazard(15), hazard(49)],
  "a link that a command leaves is not followed when its folder gets a new owner",
  async () => {
    await using folder = await temporaryFolder();
    await using host = await temporaryFolder();
    const secret = join(host.path, "secret");
    await writeFile(secret, "ours", { mode: 0o600 });
    await symlink(host.path, join(folder.path, "folder"));
    await symlink(secret, join(folder.path, "link"));
    await runScript(sandbox, "ln -s /etc/passwd another; cat link folder/secret", writableAt(folder.path));
    await runScript(sandbox, "true", writableAt(folder.path));
    expect((await stat(secret)).uid).toBe(process.getuid?.());
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
    expect((await stat("/etc/passwd")).uid).toBe(0);
    expect((await lstat(join(folder.path, "link"))).isSymbolicLink()).toBe(true);
    expect(await readFile(secret, "utf8")).toBe("ours");
  },
);

verifies([hazard(41), hazard(46)], "no process of a sandbox survives a killed service", async () => {
  const seconds = uniqueSleepSeconds();
  await killDuringSleep(seconds);
  await expect.poll(() => processesWith(seconds)).toEqual([]);
});
