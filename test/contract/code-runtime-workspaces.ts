import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type AgentWorkspaces, WORKSPACE_LIMITS, type WorkspaceId } from "../../domain/ports/agent-workspaces.ts";
import type { CodeRuntime, RunRequest, RunResult } from "../../domain/ports/code-runtime.ts";
import { runProgram } from "../support/procedures/run-program.ts";

/** Runs programs of a new agent. */
function givenAgent(runtime: CodeRuntime): {
  id: WorkspaceId;
  run(code: string, options?: Partial<RunRequest>): Promise<RunResult>;
  read(code: string, options?: Partial<RunRequest>): Promise<RunResult>;
} {
  const id = { orgId: randomUUID(), agentId: randomUUID() };
  const run = (code: string, options: Partial<RunRequest> = {}, readOnly = false) =>
    runProgram(runtime, code, { workspace: { id, readOnly }, ...options });
  return { id, run, read: (code, options) => run(code, options, true) };
}

/** A program that prints the names and sizes of what is in the workspace. */
const LIST = `for (const { name } of [...Deno.readDirSync("/workspace")].sort((a, b) => (a.name < b.name ? -1 : 1)))
  console.log(name, Deno.statSync("/workspace/" + name).size);`;
const write = (name: string, text: string) =>
  `Deno.writeTextFileSync("/workspace/" + ${JSON.stringify(name)}, ${JSON.stringify(text)});`;
const SUCCESS = { stdout: "", stderr: "", exitCode: 0 };

/** The guarantees of every code runtime about the workspaces of programs. */
export function testProgramWorkspaces(driver: string, runtime: CodeRuntime, workspaces: AgentWorkspaces): void {
  describe(`the workspace of a program (${driver})`, () => {
    test("a file that a program leaves is read by the next program of the same agent, and of no other", async () => {
      const [agent, other] = [givenAgent(runtime), givenAgent(runtime)];
      expect(await agent.run(write("notes.txt", "first é"))).toMatchObject(SUCCESS);
      const print = `console.log(Deno.readTextFileSync("/workspace/notes.txt"))`;
      expect(await agent.run(print)).toMatchObject({ stdout: "first é\n", exitCode: 0 });
      const sameAgent = { orgId: other.id.orgId, agentId: agent.id.agentId };
      for (const id of [other.id, sameAgent])
        expect(await runProgram(runtime, LIST, { workspace: { id, readOnly: false } })).toMatchObject(SUCCESS);
    });

    test("a program for no agent starts with an empty workspace and leaves nothing", async () => {
      const code = `${LIST} ${write("notes.txt", "left")} console.log(Deno.readTextFileSync("/workspace/notes.txt"))`;
      for (let n = 0; n < 4; n++)
        expect(await runProgram(runtime, code)).toMatchObject({ stdout: "left\n", stderr: "" });
    });

    test("folders, empty files, removals and times of change are kept", async () => {
      const { id, run } = givenAgent(runtime);
      await run(`Deno.mkdirSync("/workspace/a/empty", { recursive: true }); ${write("a/b", "")} ${write("c", "3")}
        Deno.utimeSync("/workspace/c", 0, new Date("2020-02-02T02:02:02.222Z"));`);
      await run(`Deno.removeSync("/workspace/a/b");`);
      const print = `console.log(Deno.statSync("/workspace/a/empty").isDirectory, Deno.statSync("/workspace/c").mtime.toJSON())`;
      expect(await run(print)).toMatchObject({ stdout: "true 2020-02-02T02:02:02.222Z\n" });
      expect(await workspaces.list(id)).toEqual({
        files: [{ path: "c", size: 1, modifiedAt: new Date("2020-02-02T02:02:02.222Z") }],
        folders: 2,
      });
      await run(`for (const name of ["a", "c"]) Deno.removeSync("/workspace/" + name, { recursive: true })`);
      expect(await workspaces.list(id)).toEqual({ files: [], folders: 0 });
    });

    test("every valid file name is kept, and no other", async () => {
      const { id, run } = givenAgent(runtime);
      const names = ["line\nfeed", " space ", "quote\"'\\`$(x)", "é🙂", "-rf", "x".repeat(255), "\u0001"];
      const code = `for (const name of ${JSON.stringify(names)}) Deno.writeTextFileSync("/workspace/" + name, name);
        let deep = "/workspace"; for (let n = 0; n < 20; n++) Deno.mkdirSync(deep += "/" + "d".repeat(100));`;
      const first = await run(code);
      expect(first).toMatchObject({
        exitCode: 0,
        stderr: expect.stringMatching(/^1 entry of \/workspace was not kept/),
      });
      const { files, folders } = await workspaces.list(id);
      expect(files.map((file) => file.path).toSorted()).toEqual(names.toSorted());
      // Of 20 nested folders, those whose path has at most 1,024 bytes.
      expect(folders).toBe(10);
      const again = `for (const name of ${JSON.stringify(names)}) if (Deno.readTextFileSync("/workspace/" + name) !== name) console.log(name);`;
      expect(await run(again)).toMatchObject(SUCCESS);
    });

    test("a program can import modules and data from its workspace", async () => {
      const { run } = givenAgent(runtime);
      await run(write("lib.ts", "export const double = (n: number): number => 2 * n;") + write("data.json", "[21]"));
      const code = `import { double } from "/workspace/lib.ts";
        import data from "/workspace/data.json" with { type: "json" };
        console.log(double(data[0]), (await import("/workspace/lib.ts")).double(1))`;
      expect(await run(code)).toMatchObject({ stdout: "42 2\n", exitCode: 0 });
      expect((await run(`import "/workspace/absent.ts"`)).stderr).toContain("/workspace/absent.ts");
    });

    test("what a program wrote is kept if it throws, is stopped at a limit, or its caller aborts", async () => {
      const { id, run } = givenAgent(runtime);
      await run(`${write("thrown", "1")} throw new Error("here")`);
      expect(await run(`${write("timeout", "1")} for (;;);`, { timeoutMs: 500 })).toMatchObject({ timedOut: true });
      const allocate = "const kept = []; for (;;) kept.push(new Uint8Array(10e6).fill(1))";
      expect((await run(`${write("memory", "1")} ${allocate}`)).exitCode).not.toBe(0);
      const abort = new AbortController();
      const handleCall = async () => abort.abort(new Error("gone"));
      const aborted = run(`${write("aborted", "1")} await service.tools.x(); for (;;);`, {
        handleCall,
        signal: abort.signal,
      });
      await expect(aborted).rejects.toThrow("gone");
      const { files } = await workspaces.list(id);
      expect(files.map((file) => file.path)).toEqual(["aborted", "memory", "thrown", "timeout"]);
    });

    test("programs that change the same workspace run one after the other, so no change is lost", async () => {
      const { run } = givenAgent(runtime);
      const count = `const file = "/workspace/count";
        let count = 0; try { count = Number(Deno.readTextFileSync(file)) } catch {}
        await service.tools.x();
        Deno.writeTextFileSync(file, String(count + 1)); console.log(count + 1)`;
      const results = await Promise.all([1, 2, 3, 4, 5].map(() => run(count)));
      expect(results.map(({ stdout }) => stdout).join("")).toBe("1\n2\n3\n4\n5\n");
    });

    test("a program waits for no other if its code does not contain the path, or if it can only read", async () => {
      const { run, read } = givenAgent(runtime);
      await run(write("stored", "1"));
      const started = Promise.withResolvers<void>();
      const proceed = Promise.withResolvers<void>();
      const handleCall = async () => {
        started.resolve();
        await proceed.promise;
      };
      const running = run(`${write("later", "1")} await service.tools.x()`, { handleCall });
      await started.promise;
      expect(await run("console.log(1)")).toMatchObject({ stdout: "1\n" });
      expect(await read(LIST)).toMatchObject({ stdout: "stored 1\n", stderr: "", exitCode: 0 });
      proceed.resolve();
      expect(await running).toMatchObject(SUCCESS);
    });

    test("a program that waits for another can be aborted, and later ones still wait for the running one", async () => {
      const { run } = givenAgent(runtime);
      const order: string[] = [];
      const handleCall = async (_name: string, input: unknown) => {
        order.push(String(input));
        await new Promise((resolve) => setTimeout(resolve, 100));
        order.push(`${String(input)} ends`);
      };
      const call = (name: string) => `await service.tools.x(${JSON.stringify(name)}) // /workspace`;
      const first = run(call("first"), { handleCall });
      const aborted = run(call("aborted"), { handleCall, signal: AbortSignal.timeout(10) });
      const last = run(call("last"), { handleCall });
      await expect(aborted).rejects.toThrow("aborted due to timeout");
      await Promise.all([first, last]);
      expect(order).toEqual(["first", "first ends", "last", "last ends"]);
    });

    test("changes of a program that can only read are discarded, and stderr says so", async () => {
      const { id, run, read } = givenAgent(runtime);
      await run(write("notes", "kept"));
      const code = `console.log(Deno.readTextFileSync("/workspace/notes")); ${write("more", "1")}`;
      expect(await read(code)).toMatchObject({
        stdout: "kept\n",
        exitCode: 1,
        stderr: expect.stringContaining("were not kept. This run can only read them, because its token does not have"),
      });
      expect((await workspaces.list(id)).files.map((file) => file.path)).toEqual(["notes"]);
    });

    test("a program has no other files, also in its workspace", async () => {
      const { run } = givenAgent(runtime);
      const attempts = [
        `Deno.readTextFileSync("/etc/passwd")`,
        `Deno.writeTextFileSync("/tmp/x", "x")`,
        `Deno.readDirSync("/")[Symbol.iterator]().next()`,
        `Deno.readTextFileSync("/workspace/../code/main.ts")`,
        `Deno.symlinkSync("/etc/passwd", "/workspace/link")`,
        `require("node:fs").symlinkSync("/etc", "/workspace/link")`,
        `Deno.connect({ transport: "unix", path: "/code/calls.sock" })`,
        `Deno.listen({ transport: "unix", path: "/workspace/socket" })`,
      ];
      const code = `import { createRequire } from "node:module"; const require = createRequire("file:///code/main.ts");
        for (const attempt of [${attempts.map((each) => `async () => ${each}`).join(", ")}])
          try { console.log("done", await attempt()) } catch (error) { console.log(error.name) }`;
      expect((await run(code)).stdout).toBe("NotCapable\n".repeat(attempts.length));
      const split = await run(`Deno.readTextFileSync("/work" + "space/notes")`);
      expect(split.stderr).toContain(`except those in /workspace, whose paths its code must contain`);
    });
  });

  describe(`bounds of a workspace (${driver})`, () => {
    test("63 MiB and 2,000 files are kept", async () => {
      const { id, run } = givenAgent(runtime);
      const code = `Deno.writeFileSync("/workspace/large", new Uint8Array(55 * 1024 ** 2).fill(7));
        for (let n = 1; n < ${WORKSPACE_LIMITS.entries}; n++) Deno.writeTextFileSync("/workspace/" + n, String(n))`;
      expect(await run(code)).toMatchObject(SUCCESS);
      const { files } = await workspaces.list(id);
      expect(files).toHaveLength(WORKSPACE_LIMITS.entries);
      const check = `const large = Deno.readFileSync("/workspace/large");
        console.log(large.length, large.every((byte) => byte === 7), Deno.readTextFileSync("/workspace/1999"))`;
      expect(await run(check)).toMatchObject({ stdout: `${55 * 1024 ** 2} true 1999\n`, exitCode: 0 });
    });

    test("a program that writes 65 MiB fails, and stderr says why", async () => {
      const { run } = givenAgent(runtime);
      const result = await run(`Deno.writeFileSync("/workspace/large", new Uint8Array(65 * 1024 ** 2))`);
      expect(result.exitCode).not.toBe(0);
      expect(result.stderr).toContain("64 MiB");
    });

    test("a program that creates 2,001 files fails, and stderr says why", async () => {
      const { id, run } = givenAgent(runtime);
      await run(write("before", "1"));
      const result = await run(`for (let n = 0; n < 2001; n++) Deno.writeTextFileSync("/workspace/n" + n, "")`);
      expect(result.exitCode).not.toBe(0);
      expect(result.stderr).toContain("2000 files and folders");
      const { files } = await workspaces.list(id);
      expect(files.length).toBeLessThanOrEqual(WORKSPACE_LIMITS.entries);
      expect(files[0]).toMatchObject({ path: "before", size: 1 });
    });

    test("a sparse file of 1 TB stops its program, and earlier files are kept", async () => {
      const { id, run } = givenAgent(runtime);
      const code = `${write("before", "1")} Deno.openSync("/workspace/sparse", { create: true, write: true }).truncateSync(1e12)`;
      expect(await run(code)).toMatchObject({
        exitCode: 153,
        stderr: "Stopped: the program made a file larger than 64 MiB.\n",
      });
      expect((await workspaces.list(id)).files).toMatchObject([{ path: "before" }, { path: "sparse", size: 0 }]);
    });

    test("sparse files count with their full size, and the files before the program stay", async () => {
      const { id, run } = givenAgent(runtime);
      await run(write("before", "1"));
      const code = `${write("before", "2")}
        for (let n = 0; n < 4; n++) Deno.openSync("/workspace/" + n, { create: true, write: true }).truncateSync(6e7)`;
      const { stderr, exitCode } = await run(code);
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringContaining("Its files have 229 MiB, and the limit is 64 MiB"),
      ]);
      expect(await run(`console.log(Deno.readTextFileSync("/workspace/before"))`)).toMatchObject({ stdout: "1\n" });
      expect((await workspaces.list(id)).files).toHaveLength(1);
    });
  });
}
