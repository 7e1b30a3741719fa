import { describe, expect, test } from "vitest";
import { type CodeRuntime, MAX_CODE_BYTES } from "../../domain/ports/code-runtime.ts";
import { runProgram } from "../support/procedures/run-program.ts";

/** What every code runtime does. */
export function codeRuntimeContract(driver: string, runtime: CodeRuntime): void {
  const run = runProgram.bind(null, runtime);

  describe(`a program (${driver})`, () => {
    test("is TypeScript with top-level await, and its types are never checked", async () => {
      const code = `enum Unit { Gram = 5 }
        const wrong: number = "text";
        console.log(wrong, Unit.Gram, await Promise.resolve<string>("awaited"));`;
      expect(await run(code)).toMatchObject({ stdout: "text 5 awaited\n", stderr: "", exitCode: 0 });
    });

    test("prints to two outputs that are told apart", async () => {
      const result = await run(`console.log("out é"); console.error("err"); console.log("out")`);
      expect(result).toMatchObject({ stdout: "out é\nout\n", stderr: "err\n", truncated: false, timedOut: false });
    });

    test("tells its own exit code", async () => {
      expect(await run("Deno.exit(7)")).toMatchObject({ exitCode: 7, stderr: "" });
    });

    test("that fails shows the error in terms of its own file alone, with exit code 1", async () => {
      const { stderr, exitCode } = await run(`interface A { x: number }
function deep({ x }: A): never { throw new TypeError("boom " + x); }
const go = async () => deep({ x: 1 });
await go();`);
      expect(stderr).toContain("TypeError: boom 1\nfunction deep(");
      expect(stderr).toContain("at deep (main.ts:2:40)\n    at go (main.ts:3:24)\n");
      expect(stderr).not.toMatch(/file:|ext:|\/opt|\/code/);
      expect(exitCode).toBe(1);
    });

    test("that cannot be parsed shows where", async () => {
      const { stderr, exitCode } = await run("const a = ;");
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("main.ts:1:11")]);
    });

    test("that waits for nothing ends with an error, and not when its time is up", async () => {
      expect(await run("await new Promise(() => undefined)")).toMatchObject({ exitCode: 1, timedOut: false });
      const afterCall = "await service.tools.x(); await new Promise(() => undefined)";
      expect(await run(afterCall)).toMatchObject({ exitCode: 1, timedOut: false });
    });

    test("of more than 256 KiB, or with a time out of bounds, is not run", async () => {
      await expect(run("/".repeat(MAX_CODE_BYTES + 1))).rejects.toThrow(RangeError);
      await expect(run("", { timeoutMs: 99 })).rejects.toThrow(RangeError);
      await expect(run("", { timeoutMs: 120_001 })).rejects.toThrow(RangeError);
      expect(await run(`console.log("fits");${"/".repeat(MAX_CODE_BYTES - 20)}`)).toMatchObject({ stdout: "fits\n" });
    });

    test("leaves nothing for the next one", async () => {
      await run(`globalThis.left = 1; localStorage.setItem("left", "1"); await caches.open("left")`);
      expect(await run(`console.log(globalThis.left, localStorage.getItem("left"))`)).toMatchObject({
        stdout: "undefined null\n",
      });
    });
  });

  describe(`the calls of a program (${driver})`, () => {
    test("carry the names of apps, procedures and tools, and a JSON value each way", async () => {
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

    test("that are refused reject with an Error that has the code, and leads to the line of the call", async () => {
      const { stdout, stderr } = await run(`
async function order() { return service.apps.shop.refuse({}); }
try { await order() } catch (error) { console.log(error instanceof Error, error.code, error.message) }
await order();`);
      expect(stdout).toBe("true not_found There is no such thing; list them first\n");
      expect(stderr).toMatch(
        /Error: There is no such thing; list them first\nasync function order[^]*at order \(main\.ts:2:/,
      );
    });

    test("that fail by a fault of the service tell nothing of it", async () => {
      const { stdout, stderr } = await run(
        `await service.tools.break().catch((error) => console.log(error.code, error))`,
      );
      expect(stdout).toMatch(/^internal /);
      expect(stdout + stderr).not.toContain("secret");
    });

    test("run side by side, sixteen at a time, and each gets its own answer", async () => {
      let [running, most] = [0, 0];
      const full = Promise.withResolvers<void>();
      const calls = async (_name: string, input: unknown) => {
        most = Math.max(most, (running += 1));
        if (running === 16) setTimeout(full.resolve, 50);
        await full.promise;
        running -= 1;
        return input;
      };
      const code = `const all = Array.from({ length: 100 }, (_, n) => n);
        console.log(JSON.stringify(await Promise.all(all.map((n) => service.tools.echo(n)))))`;
      const { stdout } = await run(code, { calls });
      expect([JSON.parse(stdout), most]).toEqual([Array.from({ length: 100 }, (_, n) => n), 16]);
    });

    test("end with the thousandth, and the program is told", async () => {
      let answered = 0;
      const calls = async () => (answered += 1);
      const code = `for (;;) await service.tools.x().catch((error) => { console.log(error.code); Deno.exit(3); })`;
      expect(await run(code, { calls })).toMatchObject({ stdout: "too_many_calls\n", exitCode: 3 });
      expect(answered).toBe(1000);
    });

    test("have inputs and answers of a megabyte at most", async () => {
      const calls = async (name: string, input: unknown) => (name === "tools.big" ? "x".repeat(1_100_000) : input);
      const { stdout } = await run(
        `const told = (error) => console.log(error.code);
        await service.tools.big().catch(told);
        await service.tools.echo("x".repeat(1_100_000)).catch(told);
        await service.tools.echo(1n).catch(told);
        console.log((await service.tools.echo("é".repeat(400_000))).length)`,
        { calls },
      );
      expect(stdout).toBe("too_large\ntoo_large\ninvalid\n400000\n");
    });

    test("keep the program alive until they are answered, awaited or not", async () => {
      const calls = (_name: string, input: unknown) => new Promise((resolve) => setTimeout(() => resolve(input), 100));
      expect(await run("service.tools.x(1).then(console.log)", { calls })).toMatchObject({ stdout: "1\n" });
    });

    test("that are not answered when the program ends are aborted", async () => {
      const aborted: string[] = [];
      const calls = (name: string, _input: unknown, signal: AbortSignal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted.push(name);
            reject(signal.reason as Error);
          });
        });
      await run("service.tools.exits(); setTimeout(() => Deno.exit(0), 100)", { calls });
      await run("await service.tools.waits()", { calls, timeoutMs: 1500 });
      expect(aborted).toEqual(["tools.exits", "tools.waits"]);
    });

    test("go through a service that cannot be replaced or added to", async () => {
      const { stdout } = await run(`
        const attempts = [() => service.apps = 1, () => service.apps.x = 1, () => delete service.tools,
          () => globalThis.service = 1, () => service.types = 1, () => Object.defineProperty(service.tools, "x", { value: 1 })];
        for (const attempt of attempts) try { attempt(); console.log("done") } catch { console.log("refused") }
        console.log(Object.isFrozen(service), JSON.stringify(service), await service.apps === service.apps)`);
      expect(stdout).toBe(`${"refused\n".repeat(6)}true {} true\n`);
    });
  });

  describe(`the bounds of a program (${driver})`, () => {
    test("stop an endless loop when its time is up, and keep what it printed", async () => {
      const result = await run(`console.log("before"); while (true) {}`, { timeoutMs: 300 });
      expect(result).toMatchObject({ stdout: "before\n", exitCode: 124, timedOut: true });
      expect(result.stderr).toBe(
        "Stopped: the program was still running after 300 ms. Do less in one run, or allow more time.\n",
      );
    });

    test("leave the service and other programs free meanwhile", async () => {
      const ended: string[] = [];
      const loops = [1, 2].map(() => run("while (true) {}", { timeoutMs: 4000 }).then(() => ended.push("loop")));
      await run(`await service.tools.x()`).then(() => ended.push("quick"));
      await Promise.all(loops);
      expect(ended).toEqual(["quick", "loop", "loop"]);
    });

    test("refuse ten gigabytes at once, and the program may go on", async () => {
      const code = "try { new Uint8Array(10e9) } catch (error) { console.log(error.name) }";
      expect(await run(code)).toMatchObject({ stdout: "RangeError\n", exitCode: 0 });
    });

    test.each([
      ["objects", "const held = []; for (;;) held.push(new Array(100).fill(held.length))"],
      ["strings", `const held = []; for (;;) held.push("x".repeat(1e6).split("").join(String(held.length)))`],
      ["buffers", "const held = []; for (;;) held.push(new Uint8Array(10e6).fill(1))"],
      ["WebAssembly memory", "const held = []; for (;;) held.push(new WebAssembly.Memory({ initial: 1000 }))"],
    ])("end one that gathers %s without end, and say so", async (_kind, code) => {
      const { stderr, exitCode, timedOut } = await run(code);
      expect(stderr).toMatch(/needed more memory than|allocation failed|could not allocate/);
      expect(stderr).not.toMatch(/stack trace|GCs|#/);
      expect([1, 133, 134, 137]).toContain(exitCode);
      expect(timedOut).toBe(false);
    });

    test("keep the beginning and the end of each output, 64 KiB together, and say that there was more", async () => {
      const result = await run(`console.log("é".repeat(50_000)); console.error("x".repeat(65_536) + "end")`);
      const [beginning, end] = ["é".repeat(24_576), "é".repeat(8191)];
      expect(result.stdout).toBe(`${beginning}\n[34465 bytes left out here]\n${end}\n`);
      expect(result.stderr).toBe(`${"x".repeat(49_152)}\n[4 bytes left out here]\n${"x".repeat(16_380)}end\n`);
      expect(result).toMatchObject({ truncated: true, exitCode: 0 });
      expect(await run(`console.error("x".repeat(65_535))`)).toMatchObject({
        ...{ truncated: false, stderr: `${"x".repeat(65_535)}\n` },
      });
    });

    test("keep the error that ended it, however much it printed before", async () => {
      const { stderr, exitCode } = await run(
        `for (let n = 0; n < 5000; n++) console.error("warning", n, "x".repeat(50)); throw new Error("the reason")`,
      );
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(/^warning 0 [^]* left out here[^]*Error: the reason/),
      ]);
    });

    test.each(["log", "error"])("stop one that prints a gigabyte by console.%s", async (print) => {
      const result = await run(`for (let n = 0; n < 1000; n++) console.${print}("x".repeat(1e6))`);
      expect(result).toMatchObject({ truncated: true, exitCode: 137, timedOut: false });
      expect(result.stderr).toContain("Stopped: the program printed more than 1024 KB");
    });

    test("let it start no process, and say so", async () => {
      const { stdout, stderr, exitCode } = await run(`
        import { fork, spawn } from "node:child_process";
        const attempts = [() => fork("main.ts"), () => spawn("sh"), () => new Deno.Command(Deno.execPath()).spawn()];
        for (const attempt of attempts) try { attempt(); console.log("started") } catch { console.log("refused") }
        for (;;) new Deno.Command("sh").outputSync();`);
      expect([stdout, exitCode]).toEqual(["refused\n".repeat(3), 1]);
      expect(stderr).toContain("A program has no files, network, environment or subprocesses");
    });

    test("let it start no worker, by whatever name", async () => {
      expect(await run(`new Worker("data:text/javascript,")`)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("There are no workers here") as string,
      });
      const threads = await run(`import { Worker } from "node:worker_threads";
        for (let n = 0; n < 200; n++) new Worker(new URL("data:text/javascript,for(;;){}"));`);
      expect(threads).toMatchObject({ timedOut: false });
      expect(threads.exitCode).not.toBe(0);
    });

    test("end it when the caller gives up", async () => {
      const abort = new AbortController();
      const gone = new Error("gone");
      const calls = async () => abort.abort(gone);
      await expect(run("await service.tools.x(); for (;;);", { calls, signal: abort.signal })).rejects.toBe(gone);
      await expect(run("", { signal: abort.signal })).rejects.toBe(gone);
    });
  });
}
