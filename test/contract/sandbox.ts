import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Mount, Sandbox } from "../../server/ports/sandbox.ts";
import { processesWith, runIn, runScript } from "../support/sandbox/sandbox-command.ts";
import { freePort } from "../support/service/free-port.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** A number of seconds for which no other process sleeps. */
export function uniqueSleepSeconds(): string {
  return `${randomInt(100_000, 999_999)}.5`;
}

export function writableAt(from: string, to = "/work"): { cwd: string; mounts: Mount[] } {
  return { cwd: to, mounts: [{ from, to, writable: true }] };
}

/** The contract of every sandbox. */
export function sandboxContract(driver: string, sandbox: Sandbox): void {
  describe(`a sandbox (${driver})`, () => {
    test("a program receives exactly the given arguments", async () => {
      const { outcome, output } = await runIn(sandbox, ["printf", "%s|", "a b", "$(id)", "--", "`x`;", ""]);
      expect([outcome, output.toString()]).toEqual([{ reason: "exit", code: 0 }, "a b|$(id)|--|`x`;||"]);
    });

    test("the outcome contains the exit code", async () => {
      expect((await runScript(sandbox, "exit 7")).outcome).toEqual({ reason: "exit", code: 7 });
    });

    test("the outcome contains the signal that killed the command", async () => {
      expect((await runScript(sandbox, "kill -SEGV $$")).outcome).toEqual({ reason: "signal", signal: "SIGSEGV" });
    });

    test("a program that does not exist has exit code 127, as in a shell", async () => {
      expect((await runIn(sandbox, ["no-such-program"])).outcome).toEqual({ reason: "exit", code: 127 });
    });

    test("a sandbox that cannot be created is an error", async () => {
      await expect(runIn(sandbox, ["true"], { cwd: "/no/such/folder" })).rejects.toThrow(
        /sandbox could not be created|ENOENT/,
      );
    });

    test("a command gets its own environment and none of the service's variables", async () => {
      const { output } = await runIn(sandbox, ["env"], { env: { PATH: "/usr/bin:/bin", GREETING: "a=b c" } });
      expect(output.toString()).toContain("GREETING=a=b c\n");
      expect(output.toString()).not.toMatch(/VITEST|NODE_ENV|HOME=/);
    });

    test("a command can run the Node.js of the service", async () => {
      const { output } = await runIn(sandbox, ["/opt/node/bin/node", "--print", "process.version"]);
      expect(output.toString()).toBe(`${process.version}\n`);
    });

    test("standard output and standard error arrive in the order they were written", async () => {
      const { output } = await runScript(sandbox, "for n in 1 2 3; do echo out $n; echo err $n >&2; done");
      expect(output.toString()).toBe("out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
    });

    test("standard error arrives separately if it has its own listener", async () => {
      const errors: Uint8Array[] = [];
      const script = "for n in 1 2; do echo out $n; echo err $n >&2; done; head -c 2000 /dev/zero >&2";
      const choices = { onErrorOutput: (chunk: Uint8Array) => errors.push(chunk), limits: { outputBytes: 1000 } };
      const { output } = await runScript(sandbox, script, choices);
      expect(output.toString()).toBe("out 1\nout 2\n");
      expect(Buffer.concat(errors).toString()).toMatch(/^err 1\nerr 2\n\0{988}$/);
    });

    test("a program reaches a server outside at a port of its loopback interface, from its first instruction on", async () => {
      await using folder = await temporaryFolder();
      const server = createTcpServer((socket) => socket.end("from outside"));
      const socketPath = join(folder.path, "server.sock");
      await once(server.listen(socketPath), "listening");
      const port = await freePort();
      const script = `require("node:net").connect(${port}, "127.0.0.1").pipe(process.stdout)`;
      const loopbackPorts = [{ port, target: { socketPath } }];
      const command = ["/opt/node/bin/node", "--eval", script] as const;
      const { output } = await runIn(sandbox, command, { loopbackPorts });
      expect(output.toString()).toBe("from outside");
      server.close();
    });

    test("a port that cannot be opened is an error, and the command is not started", async () => {
      const loopbackPorts = [{ port: 20_000, target: { socketPath: "/none" } }];
      const twice = [...loopbackPorts, ...loopbackPorts];
      await expect(runScript(sandbox, "echo started", { loopbackPorts: twice })).rejects.toThrow(/EADDRINUSE/);
    });

    verifies(hazard(47), "output arrives unchanged up to the limit, and the rest is read and discarded", async () => {
      const script = String.raw`printf 'a\000\377\033]0;x\007'; head -c 200000000 /dev/zero | tr '\0' x; exit 3`;
      const { outcome, output } = await runScript(sandbox, script, { limits: { outputBytes: 100_000 } });
      expect([outcome, output.length]).toEqual([{ reason: "exit", code: 3 }, 100_000]);
      expect(output.subarray(0, 9)).toEqual(Buffer.from("a\0\xff\x1b]0;x\x07", "latin1"));
    });

    verifies(
      hazard(46),
      "a command that ignores SIGTERM and forks daemons leaves no process when its time is over",
      async () => {
        const seconds = uniqueSleepSeconds();
        const script = `trap '' TERM HUP INT; setsid sleep ${seconds} & (sleep ${seconds} &) ; sleep ${seconds}`;
        const { outcome } = await runScript(sandbox, script, { limits: { wallTimeMs: 700 } });
        expect([outcome, await processesWith(seconds)]).toEqual([{ reason: "time" }, []]);
      },
    );

    verifies(hazard(46), "a daemon of a command ends with the command", async () => {
      const seconds = uniqueSleepSeconds();
      const { outcome } = await runScript(sandbox, `setsid sleep ${seconds} >/dev/null 2>&1 & sleep 0.2`);
      expect([outcome, await processesWith(seconds)]).toEqual([{ reason: "exit", code: 0 }, []]);
    });

    test("an abort ends the command and all its processes", async () => {
      const seconds = uniqueSleepSeconds();
      const signal = AbortSignal.timeout(300);
      const { outcome } = await runScript(sandbox, `sleep ${seconds} & sleep ${seconds}`, { signal });
      expect([outcome, await processesWith(seconds)]).toEqual([{ reason: "aborted" }, []]);
    });

    /** Runs a script, and shuts it down as soon as it has printed `ready`. Returns what it printed afterwards. */
    const shutDownWhenReady = async (script: string, graceMs: number) => {
      let output = "";
      const shutdown = new AbortController();
      const onOutput = (chunk: Uint8Array) => {
        output += Buffer.from(chunk).toString();
        if (output.includes("ready\n")) shutdown.abort();
      };
      const { outcome } = await runScript(sandbox, script, {
        onOutput,
        shutdown: { signal: shutdown.signal, graceMs },
      });
      return { outcome, output: output.replace("ready\n", "") };
    };

    test("a command that is shut down gets SIGTERM, and its own exit is the outcome", async () => {
      const script = `trap 'echo stopping; sleep 0.2; echo stopped; exit 3' TERM; echo ready; while true; do sleep 0.1; done`;
      const { outcome, output } = await shutDownWhenReady(script, 30_000);
      expect([outcome, output]).toEqual([{ reason: "exit", code: 3 }, "stopping\nstopped\n"]);
    });

    test("SIGTERM passes over shells, which would end before the program that they have started", async () => {
      const stop = `process.once("SIGTERM", () => setTimeout(() => { console.log("stopped"); process.exit(); }, 200))`;
      const script = `node -e '${stop}; console.log("ready"); setInterval(() => {}, 1000)'; echo "status $?"`;
      const { outcome, output } = await shutDownWhenReady(script, 30_000);
      expect([outcome, output]).toEqual([{ reason: "exit", code: 0 }, "stopped\nstatus 0\n"]);
    });

    test("a command that does not handle SIGTERM is killed at once when it is shut down", async () => {
      const seconds = uniqueSleepSeconds();
      const script = `trap '' TERM; echo ready; sleep ${seconds} & sleep ${seconds}`;
      const { outcome } = await shutDownWhenReady(script, 3_600_000);
      expect([outcome, await processesWith(seconds)]).toEqual([{ reason: "aborted" }, []]);
    });

    verifies(
      hazard(46),
      "a command that handles SIGTERM and continues leaves no process when the grace time is over",
      async () => {
        const seconds = uniqueSleepSeconds();
        const script = `trap 'setsid sleep ${seconds} & echo again' TERM; echo ready; while true; do sleep 0.05; done`;
        const { outcome, output } = await shutDownWhenReady(script, 2000);
        expect([outcome, output, await processesWith(seconds)]).toEqual([{ reason: "aborted" }, "again\n", []]);
      },
    );

    test("an abort during the start of a command leaves no process", async () => {
      const seconds = uniqueSleepSeconds();
      const aborts = [0, 1, 2, 4, 8].map((delay) => AbortSignal.timeout(delay));
      const runs = await Promise.all(aborts.map((signal) => runIn(sandbox, ["sleep", seconds], { signal })));
      expect(runs.map((run) => run.outcome)).toEqual(aborts.map(() => ({ reason: "aborted" })));
      expect(await processesWith(seconds)).toEqual([]);
    });

    test("a command is not started if its signal is already aborted", async () => {
      await using folder = await temporaryFolder();
      const choices = { ...writableAt(folder.path), signal: AbortSignal.abort() };
      const { outcome } = await runScript(sandbox, "touch started", choices);
      expect([outcome, await readdir(folder.path)]).toEqual([{ reason: "aborted" }, []]);
    });

    verifies(hazard(50), "the memory limit applies to all processes of a command together", async () => {
      const hog = "const held = Buffer.alloc(90e6, 1); setTimeout(() => held, 20_000)";
      const script = `for n in 1 2 3 4 5; do node -e '${hog}' & done; wait`;
      expect((await runScript(sandbox, script, { limits: { memoryMb: 400 } })).outcome).toEqual({ reason: "memory" });
    });

    verifies(
      [hazard(18), hazard(50)],
      "the size of the writable folders is limited while the command runs",
      async () => {
        await using folder = await temporaryFolder();
        const script = "for n in $(seq 100); do head -c 5000000 /dev/zero > $n; sleep 0.05; done";
        const { outcome } = await runScript(sandbox, script, { ...writableAt(folder.path), limits: { diskMb: 20 } });
        expect(outcome).toEqual({ reason: "disk" });
        expect((await readdir(folder.path)).length).toBeLessThan(100);
      },
    );

    verifies(hazard(50), "the size of the writable folders is checked again after the command has ended", async () => {
      await using folder = await temporaryFolder();
      const choices = { ...writableAt(folder.path), limits: { diskMb: 10 } };
      expect((await runScript(sandbox, "head -c 20000000 /dev/zero > big", choices)).outcome).toEqual({
        reason: "disk",
      });
    });

    verifies(hazard(50), "a large number of empty files counts as disk usage", async () => {
      await using folder = await temporaryFolder();
      const choices = { ...writableAt(folder.path), limits: { diskMb: 1 } };
      expect((await runScript(sandbox, "seq 3000 | xargs touch", choices)).outcome).toEqual({ reason: "disk" });
    });

    verifies(hazard(50), "a deleted file that is still open counts as disk usage", async () => {
      await using folder = await temporaryFolder();
      const script = "exec 3>held; rm held; head -c 30000000 /dev/zero >&3; sleep 20";
      const { outcome } = await runScript(sandbox, script, { ...writableAt(folder.path), limits: { diskMb: 10 } });
      expect(outcome).toEqual({ reason: "disk" });
    });

    verifies(hazard(50), "a file cannot grow beyond the limit on file size", async () => {
      await using folder = await temporaryFolder();
      const choices = { ...writableAt(folder.path), limits: { fileSizeMb: 2 } };
      await runScript(sandbox, "head -c 9000000 /dev/zero > big", choices);
      expect((await stat(join(folder.path, "big"))).size).toBe(2 * 1024 * 1024);
    });

    test("several commands and the service can use one folder in turn", async () => {
      await using folder = await temporaryFolder();
      const at = writableAt(folder.path);
      await runScript(sandbox, "mkdir made && echo one > made/file && chmod 700 made", at);
      await writeFile(join(folder.path, "made", "ours"), "two\n", { mode: 0o600 });
      const { output } = await runScript(sandbox, "cat made/file made/ours && echo three > made/ours", at);
      expect(output.toString()).toBe("one\ntwo\n");
      expect(await readFile(join(folder.path, "made", "ours"), "utf8")).toBe("three\n");
    });

    test("files that a command made inaccessible can be read and removed afterwards", async () => {
      await using folder = await temporaryFolder();
      await runScript(sandbox, "mkdir -p a/b && echo x > a/b/c && chmod 000 a/b/c a/b a", writableAt(folder.path));
      expect(await readFile(join(folder.path, "a/b/c"), "utf8")).toBe("x\n");
    });

    test("a folder that is mounted inside another one is visible there", async () => {
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

    test("a command with a proxy uses it through its environment variables", async () => {
      await using folder = await temporaryFolder();
      const socketPath = join(folder.path, "proxy");
      const proxy = createServer((request, response) => response.end(`requested ${request.url}`)).listen(socketPath);
      await once(proxy, "listening");
      await chmod(socketPath, 0o666);
      const network = { kind: "proxy", socketPath } as const;
      const { outcome, output } = await runIn(sandbox, ["curl", "--silent", "http://registry.test/a"], { network });
      proxy.close();
      expect([outcome, output.toString()]).toEqual([{ reason: "exit", code: 0 }, "requested http://registry.test/a"]);
    });

    test("a command with a proxy has the same outcome as without one", async () => {
      const network = { kind: "proxy", socketPath: "/dev/null" } as const;
      expect((await runScript(sandbox, "exit 9", { network })).outcome).toEqual({ reason: "exit", code: 9 });
      expect((await runScript(sandbox, "kill -KILL $$", { network })).outcome).toEqual({
        reason: "signal",
        signal: "SIGKILL",
      });
    });

    test("twenty commands can run at the same time without affecting each other", async () => {
      const script = "for n in $(seq 20); do sleep 0.3 & done; wait; echo done";
      const runs = await Promise.all(
        Array.from({ length: 20 }, () => runScript(sandbox, script, { limits: { processes: 40 } })),
      );
      expect(runs.map((run) => run.output.toString())).toEqual(runs.map(() => "done\n"));
    });
  });
}
