import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { AgentWorkspaces } from "../../../domain/ports/agent-workspaces.ts";
import { openDenoRuntime } from "../../support/procedures/deno-runtime.ts";
import { runProgram } from "../../support/procedures/run-program.ts";

const givenWorkspace = () => ({ id: { orgId: randomUUID(), agentId: randomUUID() }, readOnly: false });

test("when the runtime is closed, a running program is stopped, and what it has written is kept", async () => {
  const deno = await openDenoRuntime();
  const workspace = givenWorkspace();
  const started = Promise.withResolvers<void>();
  const handleCall = async () => started.resolve();
  await runProgram(deno.runtime, `Deno.writeTextFileSync("/workspace/before", "1")`, { workspace });
  const code = `Deno.writeTextFileSync("/workspace/written", "1"); await service.tools.x(); for (;;);`;
  const running = runProgram(deno.runtime, code, { workspace, handleCall });
  const waiting = runProgram(deno.runtime, "// /workspace", { workspace });
  const ended = Promise.allSettled([running, waiting]);
  await Promise.race([started.promise, running]);
  await deno.runtime[Symbol.asyncDispose]();
  const stopped = { status: "rejected", reason: new Error("The service is stopping") };
  expect(await ended).toEqual([stopped, stopped]);
  const { files } = await deno.workspaces.list(workspace.id);
  expect(files.map(({ path }) => path)).toEqual(["before", "written"]);
  await expect(runProgram(deno.runtime, "// /workspace")).rejects.toThrow("The service is stopping");
  expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(deno.programsFolder);
  await deno[Symbol.asyncDispose]();
});

test("a program whose files cannot be read or saved gets an error, and its result says what was not kept", async () => {
  const errors: unknown[] = [];
  const failing = (operation: "read" | "save") =>
    ({
      open: (_id, _options, use) =>
        use({
          read: async function* () {
            if (operation === "read") throw new Error("broken disk");
            yield Buffer.from("[]\n");
          },
          save: () => Promise.reject(new Error("full disk")),
        }),
    }) as Partial<AgentWorkspaces> as AgentWorkspaces;
  const workspace = givenWorkspace();
  const code = `console.log("done") // /workspace`;
  await using saving = await openDenoRuntime({
    workspaces: failing("save"),
    onInternalError: (error, name) => errors.push([name, error]),
  });
  expect(await runProgram(saving.runtime, code, { workspace })).toMatchObject({
    stdout: "done\n",
    stderr:
      "The changes of this program to /workspace were not kept. The reason is an internal error of the service.\n",
    exitCode: 1,
  });
  expect(errors).toEqual([["save the workspace", new Error("full disk")]]);
  await using reading = await openDenoRuntime({ workspaces: failing("read") });
  await expect(runProgram(reading.runtime, code, { workspace })).rejects.toThrow("broken disk");
  expect(await runProgram(reading.runtime, code)).toMatchObject({ stdout: "done\n", exitCode: 0 });
});

test("programs of many agents run at the same time, each with its own files", async () => {
  await using deno = await openDenoRuntime();
  const run = async (number: number): Promise<string> => {
    const workspace = givenWorkspace();
    await runProgram(deno.runtime, `Deno.writeTextFileSync("/workspace/${number}", "${number}")`, { workspace });
    const code = `for (const { name } of Deno.readDirSync("/workspace")) console.log(name, Deno.readTextFileSync("/workspace/" + name))`;
    return (await runProgram(deno.runtime, code, { workspace })).stdout;
  };
  const numbers = Array.from({ length: 20 }, (_, number) => number);
  expect(await Promise.all(numbers.map(run))).toEqual(numbers.map((number) => `${number} ${number}\n`));
});
