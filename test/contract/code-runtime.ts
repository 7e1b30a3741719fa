import { describe, expect, test } from "vitest";
import { type CodeRuntime, MAX_CODE_BYTES } from "../../domain/ports/code-runtime.ts";
import { runProgram } from "../support/procedures/run-program.ts";

/** The guarantees of every code runtime. */
export function testCodeRuntime(driver: string, runtime: CodeRuntime): void {
  const run = runProgram.bind(null, runtime);

  describe(`programs (${driver})`, () => {
    test("a program is TypeScript with top-level await, and its types are not checked", async () => {
      const code = `enum Unit { Gram = 5 }
        const wrong: number = "text";
        console.log(wrong, Unit.Gram, await Promise.resolve<string>("awaited"));`;
      expect(await run(code)).toMatchObject({ stdout: "text 5 awaited\n", stderr: "", exitCode: 0 });
    });

    test("stdout and stderr are captured separately", async () => {
      const result = await run(`console.log("out é"); console.error("err"); console.log("out")`);
      expect(result).toMatchObject({ stdout: "out é\nout\n", stderr: "err\n", truncated: false, timedOut: false });
    });

    test("the result has the exit code of the program", async () => {
      expect(await run("Deno.exit(7)")).toMatchObject({ exitCode: 7, stderr: "" });
    });

    test("an uncaught error shows only the program's own file, and the exit code is 1", async () => {
      const { stderr, exitCode } = await run(`interface A { x: number }
function deep({ x }: A): never { throw new TypeError("boom " + x); }
const go = async () => deep({ x: 1 });
await go();`);
      expect(stderr).toContain("TypeError: boom 1\nfunction deep(");
      expect(stderr).toContain("at deep (main.ts:2:40)\n    at go (main.ts:3:24)\n");
      expect(stderr).not.toMatch(/file:|ext:|\/opt|\/code/);
      expect(exitCode).toBe(1);
    });

    test("a syntax error shows its position", async () => {
      const { stderr, exitCode } = await run("const a = ;");
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("main.ts:1:11")]);
    });

    test("a program that awaits a promise that nothing can settle fails at once instead of timing out", async () => {
      expect(await run("await new Promise(() => undefined)")).toMatchObject({ exitCode: 1, timedOut: false });
      const afterCall = "await service.tools.x(); await new Promise(() => undefined)";
      expect(await run(afterCall)).toMatchObject({ exitCode: 1, timedOut: false });
    });

    test("a program of more than 256 KiB, or with a time limit out of bounds, is rejected", async () => {
      await expect(run("/".repeat(MAX_CODE_BYTES + 1))).rejects.toThrow(RangeError);
      await expect(run("", { timeoutMs: 99 })).rejects.toThrow(RangeError);
      await expect(run("", { timeoutMs: 120_001 })).rejects.toThrow(RangeError);
      expect(await run(`console.log("fits");${"/".repeat(MAX_CODE_BYTES - 20)}`)).toMatchObject({ stdout: "fits\n" });
    });

    test("a program leaves nothing for the next one", async () => {
      await run(`globalThis.left = 1; localStorage.setItem("left", "1"); await caches.open("left")`);
      expect(await run(`console.log(globalThis.left, localStorage.getItem("left"))`)).toMatchObject({
        stdout: "undefined null\n",
      });
    });
  });

  describe(`calls of a program (${driver})`, () => {
    test("a call has the name of its app, procedure or tool, a JSON input and a JSON output", async () => {
      const { stdout } = await run(`
        const print = (value: unknown) => console.log(JSON.stringify(value));
        print(await service.apps.shop.order.list({ first: 2, text: "é\\n" }));
        print(await service.apps["my-site"].name.length([1]));
        print(await service.tools.memory_recall());
        print(await service.types("shop"));`);
      expect(
        stdout
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown),
      ).toEqual([
        { name: "apps.shop.order.list", input: { first: 2, text: "é\n" } },
        { name: "apps.my-site.name.length", input: [1] },
        { name: "tools.memory_recall" },
        { name: "types", input: "shop" },
      ]);
    });

    test("a failed call rejects with an Error that has the code and points to the line of the call", async () => {
      const { stdout, stderr } = await run(`
async function order() { return service.apps.shop.refuse({}); }
try { await order() } catch (error) { console.log(error instanceof Error, error.code, error.message) }
await order();`);
      expect(stdout).toBe("true not_found There is no such thing; list them first\n");
      expect(stderr).toMatch(
        /Error: There is no such thing; list them first\nasync function order[^]*at order \(main\.ts:2:/,
      );
    });

    test("an internal error of a call is not revealed to the program", async () => {
      const { stdout, stderr } = await run(
        `await service.tools.break().catch((error) => console.log(error.code, error))`,
      );
      expect(stdout).toMatch(/^internal /);
      expect(stdout + stderr).not.toContain("secret");
    });

    test("up to sixteen calls run concurrently, and each gets its own response", async () => {
      let running = 0;
      let maxRunning = 0;
      const full = Promise.withResolvers<void>();
      const handleCall = async (_name: string, input: unknown) => {
        running += 1;
        maxRunning = Math.max(maxRunning, running);
        if (running === 16) setTimeout(full.resolve, 50);
        await full.promise;
        running -= 1;
        return input;
      };
      const code = `const all = Array.from({ length: 100 }, (_, n) => n);
        console.log(JSON.stringify(await Promise.all(all.map((n) => service.tools.echo(n)))))`;
      const { stdout } = await run(code, { handleCall });
      expect([JSON.parse(stdout), maxRunning]).toEqual([Array.from({ length: 100 }, (_, n) => n), 16]);
    });

    test("the call after the thousandth fails with too_many_calls", async () => {
      let handled = 0;
      const handleCall = async () => (handled += 1);
      const code = `for (;;) await service.tools.x().catch((error) => { console.log(error.code); Deno.exit(3); })`;
      expect(await run(code, { handleCall })).toMatchObject({ stdout: "too_many_calls\n", exitCode: 3 });
      expect(handled).toBe(1000);
    });

    test("an input or response above one megabyte fails its call", async () => {
      const handleCall = async (name: string, input: unknown) => (name === "tools.big" ? "x".repeat(1_100_000) : input);
      const { stdout } = await run(
        `const print = (error) => console.log(error.code);
        await service.tools.big().catch(print);
        await service.tools.echo("x".repeat(1_100_000)).catch(print);
        const itself = [];
        itself.push(itself);
        await service.tools.echo(itself).catch(print);
        console.log((await service.tools.echo("é".repeat(400_000))).length)`,
        { handleCall },
      );
      expect(stdout).toBe("too_large\ntoo_large\ninvalid\n400000\n");
    });

    test("a pending call keeps the program alive, whether it is awaited or not", async () => {
      const handleCall = (_name: string, input: unknown) =>
        new Promise((resolve) => setTimeout(() => resolve(input), 100));
      expect(await run("service.tools.x(1).then(console.log)", { handleCall })).toMatchObject({ stdout: "1\n" });
    });

    test("pending calls are aborted when the program ends", async () => {
      const aborted: string[] = [];
      const handleCall = (name: string, _input: unknown, signal: AbortSignal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted.push(name);
            reject(signal.reason as Error);
          });
        });
      await run("service.tools.exits(); setTimeout(() => Deno.exit(0), 100)", { handleCall });
      await run("await service.tools.waits()", { handleCall, timeoutMs: 1500 });
      expect(aborted).toEqual(["tools.exits", "tools.waits"]);
    });

    test("the global service cannot be replaced or extended", async () => {
      const { stdout } = await run(`
        const attempts = [() => service.apps = 1, () => service.apps.x = 1, () => delete service.tools,
          () => globalThis.service = 1, () => service.types = 1, () => Object.defineProperty(service.tools, "x", { value: 1 })];
        for (const attempt of attempts) try { attempt(); console.log("done") } catch { console.log("refused") }
        console.log(Object.isFrozen(service), JSON.stringify(service), await service.apps === service.apps)`);
      expect(stdout).toBe(`${"refused\n".repeat(6)}true {} true\n`);
    });
  });

  describe(`bounds of a program (${driver})`, () => {
    test("an endless loop is stopped at its time limit, and its output is kept", async () => {
      const result = await run(`console.log("before"); while (true) {}`, { timeoutMs: 300 });
      expect(result).toMatchObject({ stdout: "before\n", exitCode: 124, timedOut: true });
      expect(result.stderr).toBe(
        "Stopped: the program was still running after 300 ms. Do less in one run, or allow more time.\n",
      );
    });

    test("an endless loop does not block the service or other programs", async () => {
      const ended: string[] = [];
      const loops = [1, 2].map(() => run("while (true) {}", { timeoutMs: 4000 }).then(() => ended.push("loop")));
      await run(`await service.tools.x()`).then(() => ended.push("quick"));
      await Promise.all(loops);
      expect(ended).toEqual(["quick", "loop", "loop"]);
    });

    test("an allocation of ten gigabytes fails, and the program can continue", async () => {
      const code = "try { new Uint8Array(10e9) } catch (error) { console.log(error.name) }";
      expect(await run(code)).toMatchObject({ stdout: "RangeError\n", exitCode: 0 });
    });

    test.each([
      ["objects", "const kept = []; for (;;) kept.push(new Array(100).fill(kept.length))"],
      ["strings", `const kept = []; for (;;) kept.push("x".repeat(1e6).split("").join(String(kept.length)))`],
      ["buffers", "const kept = []; for (;;) kept.push(new Uint8Array(10e6).fill(1))"],
      ["WebAssembly memory", "const kept = []; for (;;) kept.push(new WebAssembly.Memory({ initial: 1000 }))"],
    ])("a program that allocates %s without end is stopped, and the reason is shown", async (_kind, code) => {
      const { stderr, exitCode, timedOut } = await run(code);
      expect(stderr).toMatch(/needed more memory than|allocation failed|could not allocate/);
      expect(stderr).not.toMatch(/stack trace|GCs|#/);
      expect([1, 133, 134, 137]).toContain(exitCode);
      expect(timedOut).toBe(false);
    });

    test("64 KiB of each output are kept, from its beginning and its end, and a note says what is missing", async () => {
      const result = await run(`console.log("é".repeat(50_000)); console.error("x".repeat(65_536) + "end")`);
      const [beginning, end] = ["é".repeat(24_576), "é".repeat(8191)];
      expect(result.stdout).toBe(`${beginning}\n[34465 bytes left out here]\n${end}\n`);
      expect(result.stderr).toBe(`${"x".repeat(49_152)}\n[4 bytes left out here]\n${"x".repeat(16_380)}end\n`);
      expect(result).toMatchObject({ truncated: true, exitCode: 0 });
      expect(await run(`console.error("x".repeat(65_535))`)).toMatchObject({
        truncated: false,
        stderr: `${"x".repeat(65_535)}\n`,
      });
    });

    test("the error that ends a program is kept, however much it printed before", async () => {
      const { stderr, exitCode } = await run(
        `for (let n = 0; n < 5000; n++) console.error("warning", n, "x".repeat(50)); throw new Error("the reason")`,
      );
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(/^warning 0 [^]* left out here[^]*Error: the reason/),
      ]);
    });

    test.each(["log", "error"])("a program that prints a gigabyte with console.%s is stopped", async (print) => {
      const result = await run(`for (let n = 0; n < 1000; n++) console.${print}("x".repeat(1e6))`);
      expect(result).toMatchObject({ truncated: true, exitCode: 137, timedOut: false });
      expect(result.stderr).toContain("Stopped: the program printed more than 1024 KB");
    });

    test("a program cannot start processes, and a hint says what to use instead", async () => {
      const { stdout, stderr, exitCode } = await run(`
        import { fork, spawn } from "node:child_process";
        const attempts = [() => fork("main.ts"), () => spawn("sh"), () => new Deno.Command(Deno.execPath()).spawn()];
        for (const attempt of attempts) try { attempt(); console.log("started") } catch { console.log("refused") }
        for (;;) new Deno.Command("sh").outputSync();`);
      expect([stdout, exitCode]).toEqual(["refused\n".repeat(3), 1]);
      expect(stderr).toContain("and no network, environment or subprocesses. Use `service`");
    });

    test("a program cannot start workers, by either API", async () => {
      expect(await run(`new Worker("data:text/javascript,")`)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("Workers are not available") as string,
      });
      const threads = await run(`import { Worker } from "node:worker_threads";
        for (let n = 0; n < 200; n++) new Worker(new URL("data:text/javascript,for(;;){}"));`);
      expect(threads).toMatchObject({ timedOut: false });
      expect(threads.exitCode).not.toBe(0);
    });

    test("a program is stopped when the caller aborts", async () => {
      const abort = new AbortController();
      const gone = new Error("gone");
      const handleCall = async () => abort.abort(gone);
      await expect(run("await service.tools.x(); for (;;);", { handleCall, signal: abort.signal })).rejects.toBe(gone);
      await expect(run("", { signal: abort.signal })).rejects.toBe(gone);
    });
  });
}
