import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Mount, Sandbox } from "../../domain/ports/sandbox.ts";
import { processesWith, runIn, runScript } from "../support/sandbox/sandbox-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** A number of seconds that no other process sleeps for. */
export function unusualSleep(): string {
  return `${randomInt(100_000, 999_999)}.5`;
}

export function writableAt(from: string, to = "/work"): { cwd: string; mounts: Mount[] } {
  return { cwd: to, mounts: [{ from, to, writable: true }] };
}

/** What every sandbox does. */
export function sandboxContract(driver: string, sandbox: Sandbox): void {
  describe(`a sandbox (${driver})`, () => {
    test("runs a program with exactly the given arguments", async () => {
      const { outcome, output } = await runIn(sandbox, ["printf", "%s|", "a b", "$(id)", "--", "`x`;", ""]);
      expect([outcome, output.toString()]).toEqual([{ reason: "exit", code: 0 }, "a b|$(id)|--|`x`;||"]);
    });

    test("tells the exit code", async () => {
      expect((await runScript(sandbox, "exit 7")).outcome).toEqual({ reason: "exit", code: 7 });
    });

    test("tells the signal a command died of", async () => {
      expect((await runScript(sandbox, "kill -SEGV $$")).outcome).toEqual({ reason: "signal", signal: "SIGSEGV" });
    });

    test("tells of a program that does not exist as a shell does", async () => {
      expect((await runIn(sandbox, ["no-such-program"])).outcome).toEqual({ reason: "exit", code: 127 });
    });

    test("throws when the sandbox itself cannot be made", async () => {
      await expect(runIn(sandbox, ["true"], { cwd: "/no/such/folder" })).rejects.toThrow(
        /sandbox could not be created|ENOENT/,
      );
    });

    test("gives the command its own environment and nothing of the service's", async () => {
      const { output } = await runIn(sandbox, ["env"], { env: { PATH: "/usr/bin:/bin", GREETING: "a=b c" } });
      expect(output.toString()).toContain("GREETING=a=b c\n");
      expect(output.toString()).not.toMatch(/VITEST|NODE_ENV|HOME=/);
    });

    test("offers the service's own Node.js", async () => {
      const { output } = await runIn(sandbox, ["/opt/node/bin/node", "--print", "process.version"]);
      expect(output.toString()).toBe(`${process.version}\n`);
    });

    test("hands on standard output and standard error in the order they were written", async () => {
      const { output } = await runScript(sandbox, "for n in 1 2 3; do echo out $n; echo err $n >&2; done");
      expect(output.toString()).toBe("out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
    });

    test("hands on standard error apart where it is wanted apart", async () => {
      const errors: Uint8Array[] = [];
      const script = "for n in 1 2; do echo out $n; echo err $n >&2; done; head -c 2000 /dev/zero >&2";
      const choices = { onErrorOutput: (chunk: Uint8Array) => errors.push(chunk), limits: { outputBytes: 1000 } };
      const { output } = await runScript(sandbox, script, choices);
      expect(output.toString()).toBe("out 1\nout 2\n");
      expect(Buffer.concat(errors).toString()).toMatch(/^err 1\nerr 2\n\0{988}$/);
    });

    verifies(
      hazard(47),
      "output is handed on up to the limit, byte by byte, and the rest is read and thrown away",
      async () => {
        const script = String.raw`printf 'a\000\377\033]0;x\007'; head -c 200000000 /dev/zero | tr '\0' x; exit 3`;
        const { outcome, output } = await runScript(sandbox, script, { limits: { outputBytes: 100_000 } });
        expect([outcome, output.length]).toEqual([{ reason: "exit", code: 3 }, 100_000]);
        expect(output.subarray(0, 9)).toEqual(Buffer.from("a\0\xff\x1b]0;x\x07", "latin1"));
      },
    );

    verifies(
      hazard(46),
      "a command that ignores SIGTERM and forks daemons is gone whole when its time is up",
      async () => {
        const seconds = unusualSleep();
        const script = `trap '' TERM HUP INT; setsid sleep ${seconds} & (sleep ${seconds} &) ; sleep ${seconds}`;
        const { outcome } = await runScript(sandbox, script, { limits: { wallTimeMs: 700 } });
        expect([outcome, await processesWith(seconds)]).toEqual([{ reason: "time" }, []]);
      },
    );

    verifies(hazard(46), "a daemon that a finished command leaves behind is gone too", async () => {
      const seconds = unusualSleep();
      const { outcome } = await runScript(sandbox, `setsid sleep ${seconds} >/dev/null 2>&1 & sleep 0.2`);
      expect([outcome, await processesWith(seconds)]).toEqual([{ reason: "exit", code: 0 }, []]);
    });

    test("an abort ends the command and all it started", async () => {
      const seconds = unusualSleep();
      const signal = AbortSignal.timeout(300);
      const { outcome } = await runScript(sandbox, `sleep ${seconds} & sleep ${seconds}`, { signal });
      expect([outcome, await processesWith(seconds)]).toEqual([{ reason: "aborted" }, []]);
    });

    test("an abort while the command is being started leaves nothing running", async () => {
      const seconds = unusualSleep();
      const aborts = [0, 1, 2, 4, 8].map((delay) => AbortSignal.timeout(delay));
      const runs = await Promise.all(aborts.map((signal) => runIn(sandbox, ["sleep", seconds], { signal })));
      expect(runs.map((run) => run.outcome)).toEqual(aborts.map(() => ({ reason: "aborted" })));
      expect(await processesWith(seconds)).toEqual([]);
    });

    test("a command that was aborted before is never started", async () => {
      await using folder = await temporaryFolder();
      const choices = { ...writableAt(folder.path), signal: AbortSignal.abort() };
      const { outcome } = await runScript(sandbox, "touch started", choices);
      expect([outcome, await readdir(folder.path)]).toEqual([{ reason: "aborted" }, []]);
    });

    verifies(hazard(50), "memory is bounded over all processes of the command together", async () => {
      const hog = "const held = Buffer.alloc(90e6, 1); setTimeout(() => held, 20_000)";
      const script = `for n in 1 2 3 4 5; do node -e '${hog}' & done; wait`;
      expect((await runScript(sandbox, script, { limits: { memoryMb: 400 } })).outcome).toEqual({ reason: "memory" });
    });

    verifies([hazard(18), hazard(50)], "what the writable folders hold is bounded while the command runs", async () => {
      await using folder = await temporaryFolder();
      const script = "for n in $(seq 100); do head -c 5000000 /dev/zero > $n; sleep 0.05; done";
      const { outcome } = await runScript(sandbox, script, { ...writableAt(folder.path), limits: { diskMb: 20 } });
      expect(outcome).toEqual({ reason: "disk" });
      expect((await readdir(folder.path)).length).toBeLessThan(100);
    });

    verifies(hazard(50), "a command that ends before it is found out is judged by what it left", async () => {
      await using folder = await temporaryFolder();
      const choices = { ...writableAt(folder.path), limits: { diskMb: 10 } };
      expect((await runScript(sandbox, "head -c 20000000 /dev/zero > big", choices)).outcome).toEqual({
        reason: "disk",
      });
    });

    verifies(hazard(50), "a flood of empty files counts as disk", async () => {
      await using folder = await temporaryFolder();
      const choices = { ...writableAt(folder.path), limits: { diskMb: 1 } };
      expect((await runScript(sandbox, "seq 3000 | xargs touch", choices)).outcome).toEqual({ reason: "disk" });
    });

    verifies(hazard(50), "a deleted file that is still open counts as disk", async () => {
      await using folder = await temporaryFolder();
      const script = "exec 3>held; rm held; head -c 30000000 /dev/zero >&3; sleep 20";
      const { outcome } = await runScript(sandbox, script, { ...writableAt(folder.path), limits: { diskMb: 10 } });
      expect(outcome).toEqual({ reason: "disk" });
    });

    verifies(hazard(50), "no single file grows past its limit", async () => {
      await using folder = await temporaryFolder();
      const choices = { ...writableAt(folder.path), limits: { fileSizeMb: 2 } };
      await runScript(sandbox, "head -c 9000000 /dev/zero > big", choices);
      expect((await stat(join(folder.path, "big"))).size).toBe(2 * 1024 * 1024);
    });

    test("several commands work on one folder in turn, and the service between them", async () => {
      await using folder = await temporaryFolder();
      const at = writableAt(folder.path);
      await runScript(sandbox, "mkdir made && echo one > made/file && chmod 700 made", at);
      await writeFile(join(folder.path, "made", "ours"), "two\n", { mode: 0o600 });
      const { output } = await runScript(sandbox, "cat made/file made/ours && echo three > made/ours", at);
      expect(output.toString()).toBe("one\ntwo\n");
      expect(await readFile(join(folder.path, "made", "ours"), "utf8")).toBe("three\n");
    });

    test("what a command locks up can be read and removed afterwards", async () => {
      await using folder = await temporaryFolder();
      await runScript(sandbox, "mkdir -p a/b && echo x > a/b/c && chmod 000 a/b/c a/b a", writableAt(folder.path));
      expect(await readFile(join(folder.path, "a/b/c"), "utf8")).toBe("x\n");
    });

    test("a folder mounted inside another one is found there", async () => {
      await using folder = await temporaryFolder();
      for (const name of ["outer", "inner"]) await mkdir(join(folder.path, name));
      await mkdir(join(folder.path, "outer", "tools"));
      await writeFile(join(folder.path, "inner", "tool"), "found\n");
      await chmod(join(folder.path, "inner"), 0o755);
      const inner = { from: join(folder.path, "inner"), to: "/work/tools", writable: false };
      const outer = { from: join(folder.path, "outer"), to: "/work", writable: false };
      const { output } = await runIn(sandbox, ["cat", "/work/tools/tool"], { mounts: [inner, outer] });
      expect(output.toString()).toBe("found\n");
    });

    test("a command with a proxy finds it in its environment and reaches what that reaches", async () => {
      await using folder = await temporaryFolder();
      const socketPath = join(folder.path, "proxy");
      const proxy = createServer((request, response) => response.end(`asked for ${request.url}`)).listen(socketPath);
      await once(proxy, "listening");
      await chmod(socketPath, 0o666);
      const network = { kind: "proxy", socketPath } as const;
      const { outcome, output } = await runIn(sandbox, ["curl", "--silent", "http://registry.test/a"], { network });
      proxy.close();
      expect([outcome, output.toString()]).toEqual([{ reason: "exit", code: 0 }, "asked for http://registry.test/a"]);
    });

    test("a command with a proxy ends as it would without one", async () => {
      const network = { kind: "proxy", socketPath: "/dev/null" } as const;
      expect((await runScript(sandbox, "exit 9", { network })).outcome).toEqual({ reason: "exit", code: 9 });
      expect((await runScript(sandbox, "kill -KILL $$", { network })).outcome).toEqual({
        reason: "signal",
        signal: "SIGKILL",
      });
    });

    test("twenty commands run at a time without hindering each other", async () => {
      const script = "for n in $(seq 20); do sleep 0.3 & done; wait; echo done";
      const runs = await Promise.all(
        Array.from({ length: 20 }, () => runScript(sandbox, script, { limits: { processes: 40 } })),
      );
      expect(runs.map((run) => run.output.toString())).toEqual(runs.map(() => "done\n"));
    });
  });
}
